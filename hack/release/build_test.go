package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func dockerfile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\\\n    ", "")
}

// Whoever builds with the Dockerfile gets the image that is released.
func TestTheDockerfileTellsTheSameStory(t *testing.T) {
	text := dockerfile(t)
	b := build{pkg: "./cmd/manager", to: "/manager", version: "$VERSION"}
	args := b.args()
	i := slices.Index(args, "-ldflags")
	args[i+1] = `"` + args[i+1] + `"`
	for what, want := range map[string]string{
		"the build":      "go " + strings.Join(args, " ") + "\n",
		"no cgo":         "CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build",
		"the base":       "\nFROM scratch\n",
		"the only file":  "\nCOPY --from=build /manager " + entrypoint + "\n",
		"the user":       "\nUSER " + imageUser + "\n",
		"the entrypoint": "\nENTRYPOINT [\"" + entrypoint + "\"]\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the Dockerfile lacks %s: %q", what, want)
		}
	}
	if n := strings.Count(text, "COPY --from="); n != 1 {
		t.Errorf("the Dockerfile copies %d things into the image: want 1", n)
	}
}

func TestTheEnvironmentCannotChangeABinary(t *testing.T) {
	b := build{platform: platform{"linux", "arm64"}, cache: "/somewhere"}
	env := b.env([]string{"CGO_ENABLED=1", "GOFLAGS=-tags=x", "GOEXPERIMENT=y", "GOAMD64=v3", "PATH=/bin"})
	last := map[string]string{} // what a process sees of a name given twice
	for _, e := range env {
		key, value, _ := strings.Cut(e, "=")
		last[key] = value
	}
	for key, want := range map[string]string{
		"CGO_ENABLED": "0", "GOFLAGS": "", "GOEXPERIMENT": "", "GOAMD64": "v1", "GOOS": "linux", "GOARCH": "arm64",
		"GOCACHE": "/somewhere", "PATH": "/bin",
	} {
		if last[key] != want {
			t.Errorf("%s is %q: want %q", key, last[key], want)
		}
	}
}

func TestInspectRefusesABinaryThatIsNotAReleaseBuild(t *testing.T) {
	self, err := os.Executable() // a test binary: built without -trimpath
	if err != nil {
		t.Fatal(err)
	}
	if err := inspect(self, amd64); err == nil {
		t.Error("inspect() accepts a test binary")
	}
	if err := inspect("build_test.go", amd64); err == nil || !strings.Contains(err.Error(), "build_test.go") {
		t.Errorf("inspect() = %v: want an error that names the file", err)
	}
}

func TestACommitIsAHashAndATime(t *testing.T) {
	hash := strings.Repeat("0123456789", 4)
	got, err := parseCommit(hash + " 1780000000\n")
	if err != nil || got.hash != hash || got.time.Unix() != 1780000000 {
		t.Errorf("parseCommit() = %+v, %v", got, err)
	}
	for _, line := range []string{"", hash, "abc 1780000000", hash + " yesterday"} {
		if got, err := parseCommit(line); err == nil {
			t.Errorf("parseCommit(%q) = %+v: want an error", line, got)
		}
	}
}
