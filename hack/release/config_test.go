package release

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const entrypoint = "/ko-app/manager" // which is where ko puts a program

// build is how ko or goreleaser builds a program.
type build struct {
	Main, Binary                 string
	Env, Flags, Ldflags, Targets []string
}

func builds(t *testing.T, file string) build {
	t.Helper()
	var config struct{ Builds []build }
	if err := yaml.Unmarshal([]byte(read(t, file)), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Builds) != 1 {
		t.Fatalf("%s has %d builds: want 1", file, len(config.Builds))
	}
	return config.Builds[0]
}

// Whoever builds with the Dockerfile gets the image that is released.
func TestTheDockerfileTellsTheSameStory(t *testing.T) {
	text := strings.ReplaceAll(read(t, "Dockerfile"), "\\\n    ", "")
	b := builds(t, ".ko.yaml")
	ldflags := strings.ReplaceAll(strings.Join(b.Ldflags, " "), "{{ .Env.VERSION }}", "$VERSION")
	for what, want := range map[string]string{
		"the build":      strings.Join(b.Env, " ") + " GOOS=$TARGETOS GOARCH=$TARGETARCH go build " + strings.Join(b.Flags, " ") + ` -ldflags "` + ldflags + `" -o /manager ` + b.Main + "\n",
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

func TestKoAndGoreleaserBuildAlike(t *testing.T) {
	image, plugin := builds(t, ".ko.yaml"), builds(t, ".goreleaser.yaml")
	if !slices.Equal(image.Env, plugin.Env) || !slices.Equal(image.Flags, plugin.Flags) {
		t.Errorf("ko builds with %v %v, goreleaser with %v %v", image.Env, image.Flags, plugin.Env, plugin.Flags)
	}
	linked := strings.ReplaceAll(strings.Join(image.Ldflags, " "), "{{ .Env.VERSION }}", "v{{ .Version }}")
	if got := strings.Join(plugin.Ldflags, " "); got != linked {
		t.Errorf("goreleaser links with %q: want %q", got, linked)
	}
	for _, want := range []string{"CGO_ENABLED=0", "-trimpath", "-buildvcs=false"} {
		if !slices.Contains(append(image.Env, image.Flags...), want) {
			t.Errorf("ko builds without %s: the bytes depend on where and how", want)
		}
	}
}

// A variable in the environment of a build changes its bytes; release.sh sets each of them.
func TestTheEnvironmentCannotChangeABinary(t *testing.T) {
	script := read(t, "hack/release/release.sh")
	for _, want := range []string{
		"GOFLAGS=''", "GOEXPERIMENT=''", "GOFIPS140=off", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0", "TZ=UTC", "SOURCE_DATE_EPOCH=$epoch",
	} {
		if !strings.Contains(script, "\nexport ") || !strings.Contains(script, " "+want) {
			t.Errorf("release.sh does not set %s", want)
		}
	}
}
