package settings

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// complete is an environment with all that is needed.
var complete = map[string]string{
	"KUBECONFIG": "/kubeconfig", "E2E_PLATFORM": "/platform", "E2E_IMAGE": "registry:5000/operator:v1",
	"E2E_PROMETHEUS_IMAGE": "prometheus:v3", "E2E_PAUSE_IMAGE": "pause:3",
}

func TestRead(t *testing.T) {
	want := Settings{
		Kubeconfig: "/kubeconfig", Platform: "/platform", Repository: "registry:5000/operator", Tag: "v1",
		PrometheusImage: "prometheus:v3", PauseImage: "pause:3",
	}
	got, err := Read(func(name string) string { return complete[name] })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Read() (-want +got):\n%s", diff)
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		change map[string]string
		want   string
	}{
		"every variable that is missing":    {map[string]string{"KUBECONFIG": "", "E2E_IMAGE": ""}, "not set: KUBECONFIG, E2E_IMAGE;"},
		"an image without a tag":            {map[string]string{"E2E_IMAGE": "operator"}, "E2E_IMAGE=operator has no tag"},
		"a port is no tag":                  {map[string]string{"E2E_IMAGE": "registry:5000/operator"}, "has no tag"},
		"an empty tag":                      {map[string]string{"E2E_IMAGE": "operator:"}, "has no tag"},
		"where the variables are explained": {map[string]string{"E2E_PLATFORM": ""}, "hack/e2e.sh --help"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			env := maps.Clone(complete)
			maps.Copy(env, tc.change)
			_, err := Read(func(name string) string { return env[name] })
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Read() = %v, want an error with %q", err, tc.want)
			}
		})
	}
}
