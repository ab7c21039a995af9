package release

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// repository is a copy of what release.sh looks at before it builds anything, in a repository of its own.
func repository(t *testing.T, change func(path, text string) string) string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{"hack/release/release.sh", chartFolder + "/Chart.yaml", chartFolder + "/values.yaml"} {
		to := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // a copy of public files
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(change(filepath.Base(path), read(t, path))), 0o755); err != nil { //nolint:gosec // one of them is run
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."},
		{"-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "test"},
	} {
		if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil { //nolint:gosec // args are above
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// release runs the script, with a Go that builds nothing and a folder for temporary files that must be empty when it ends.
func release(t *testing.T, dir, args string) (string, error) {
	t.Helper()
	bin, tmp := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho this is a test and no Go >&2\nexit 1\n"), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), filepath.Join(dir, "hack/release/release.sh"), strings.Fields(args)...) //nolint:gosec // our own script
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TMPDIR="+tmp)
	out, err := cmd.CombinedOutput()
	if left, readErr := os.ReadDir(tmp); readErr != nil || len(left) > 0 {
		t.Errorf("release.sh %s leaves %v, %v", args, left, readErr)
	}
	return string(out), err
}

func TestArgumentsThatCannotWorkAreRefused(t *testing.T) {
	dir := repository(t, func(_, text string) string { return text })
	for args, want := range map[string]string{
		"":                              "say what to do",
		"deploy":                        "say what to do",
		"publish":                       "needs --tag and --identity",
		"publish --tag v1.2.3":          "needs --tag and --identity",
		"publish --tag":                 "--tag needs a value",
		"dry-run --tag v1.2.3":          `unexpected argument "--tag"`,
		"dry-run now":                   `unexpected argument "now"`,
		"dry-run --cold --assets out":   "no Go", // it has begun
		"publish --tag v1 --identity u": "the tag is v1",
	} {
		if out, err := release(t, dir, args); err == nil || !strings.Contains(out, want) {
			t.Errorf("release.sh %s: %v, %q: want %q", args, err, out, want)
		}
	}
}

func TestAChartThatNamesAnotherVersionOrImageIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ old, by, tag, want string }{
		"the tag fits":                  {tag: "v1.2.3", want: "no Go"}, // it has begun
		"the tag is another version":    {tag: "v9.9.9", want: "the tag is v9.9.9"},
		"the tag has no v":              {tag: "1.2.3", want: "the tag is 1.2.3"},
		"the chart and the app differ":  {old: "\nappVersion: 1.2.3\n", by: "\nappVersion: 9.9.9\n", tag: "v1.2.3", want: "appVersion 9.9.9"},
		"the chart has another image":   {old: "  repository: " + publicRegistry, by: "  repository: example.com", tag: "v1.2.3", want: "example.com"},
		"the chart has no image at all": {old: "  repository: " + publicRegistry, by: "  other: " + publicRegistry, tag: "v1.2.3", want: "image.repository"},
	} {
		t.Run(name, func(t *testing.T) {
			version := chartYAML(t).Version
			dir := repository(t, func(file, text string) string {
				if file == "release.sh" {
					return text
				}
				text = strings.NewReplacer("\nversion: "+version, "\nversion: 1.2.3", "\nappVersion: "+version, "\nappVersion: 1.2.3").Replace(text)
				if tc.old != "" {
					text = strings.Replace(text, tc.old, tc.by, 1)
				}
				return text
			})
			if out, err := release(t, dir, "publish --identity u --tag "+tc.tag); err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("release.sh: %v, %q: want %q", err, out, tc.want)
			}
		})
	}
}

func chartYAML(t *testing.T) (c struct{ Version, AppVersion string }) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, chartFolder+"/Chart.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheChartCanBeReleased(t *testing.T) {
	if c := chartYAML(t); c.Version == "" || c.AppVersion != c.Version {
		t.Errorf("the chart has version %q and appVersion %q: a release has one number", c.Version, c.AppVersion)
	}
	var values struct{ Image struct{ Repository string } }
	if err := yaml.Unmarshal([]byte(read(t, chartFolder+"/values.yaml")), &values); err != nil {
		t.Fatal(err)
	}
	if want := publicRegistry + "/" + imageName; values.Image.Repository != want {
		t.Errorf("the chart has image.repository %q: the image is released as %s", values.Image.Repository, want)
	}
}

func TestAKeylessVerificationNamesTheWorkflowAndItsIssuer(t *testing.T) {
	script := read(t, "hack/release/release.sh")
	for _, want := range []string{
		"\nissuer=" + oidcIssuer + "\n",
		`verify=(--certificate-oidc-issuer "$issuer" --certificate-identity "$identity") reject=("${verify[@]}-not")`,
	} {
		if !strings.Contains(script, want) {
			t.Errorf("release.sh lacks %q", want)
		}
	}
}
