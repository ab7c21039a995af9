package cli

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(io streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = &debug.BuildInfo{}
			}
			return printVersion(io.out, info)
		},
	}
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError(cmd, fmt.Errorf("unexpected argument %q", args[0]))
}

// printVersion prints what the Go toolchain recorded about the build: the module's version, and the commit when it was
// built from a checkout.
func printVersion(w io.Writer, info *debug.BuildInfo) error {
	line := "kubectl-gpuinv " + orElse(info.Main.Version, "(version unknown)")
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if commit := settings["vcs.revision"]; commit != "" {
		line += " commit " + commit[:min(len(commit), 12)]
		if settings["vcs.modified"] == "true" {
			line += " with changes"
		}
	}
	if info.GoVersion != "" {
		line += " " + info.GoVersion
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return failure{fmt.Errorf("write version: %w", err)}
	}
	return nil
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
