package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestTheDocumentationNamesEveryCommandAndFlag(t *testing.T) {
	text, err := os.ReadFile("../../docs/plugin.md")
	if err != nil {
		t.Fatal(err)
	}
	var check func(*cobra.Command)
	check = func(c *cobra.Command) {
		if !strings.Contains(string(text), "`"+c.CommandPath()) {
			t.Errorf("docs/plugin.md does not name %q", c.CommandPath())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(string(text), "`--"+f.Name+"`") {
				t.Errorf("docs/plugin.md does not name --%s", f.Name)
			}
		})
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				check(sub)
			}
		}
	}
	check(newRoot(streams{}))
}

func TestTheDocumentationShowsTheTableThatIsPrinted(t *testing.T) {
	text, err := os.ReadFile("../../docs/plugin.md")
	if err != nil {
		t.Fatal(err)
	}
	_, stdout, _ := run(t, "", "scan", "-f", homelab)
	if !strings.Contains(string(text), "\n"+stdout) {
		t.Errorf("docs/plugin.md does not show what \"scan -f examples/homelab.yaml\" prints:\n%s", stdout)
	}
}
