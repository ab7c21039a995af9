package chart

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

// hub decodes an annotation that Artifact Hub reads.
func hub(t *testing.T, name string, into any) {
	t.Helper()
	text, ok := loadChart(t).Metadata.Annotations["artifacthub.io/"+name]
	if !ok {
		t.Fatalf("Chart.yaml lacks the annotation artifacthub.io/%s", name)
	}
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Fatalf("artifacthub.io/%s: %v", name, err)
	}
}

func TestArtifactHubIsToldWhatTheChartIs(t *testing.T) {
	chart := loadChart(t).Metadata
	for name, want := range map[string]string{
		"license": "Apache-2.0", "category": "monitoring-logging", "operator": "true", "operatorCapabilities": "Seamless Upgrades",
	} {
		if got := chart.Annotations["artifacthub.io/"+name]; got != want {
			t.Errorf("artifacthub.io/%s = %q, want %q", name, got, want)
		}
	}
	var links []struct{ Name, URL string }
	hub(t, "links", &links)
	for _, link := range links {
		if link.Name == "" || !strings.HasPrefix(link.URL, chart.Home) {
			t.Errorf("link %+v, want a name and a URL below %s", link, chart.Home)
		}
	}
	var changes []struct{ Kind, Description string }
	hub(t, "changes", &changes)
	for _, change := range changes {
		if !strings.Contains("added changed deprecated removed fixed security", change.Kind) || change.Description == "" {
			t.Errorf("change %+v, want a kind that Artifact Hub knows and a description", change)
		}
	}
	if len(links) == 0 || len(changes) == 0 {
		t.Errorf("%d links and %d changes, want some", len(links), len(changes))
	}
}

func TestArtifactHubIsToldTheImageThatIsInstalled(t *testing.T) {
	var images []struct {
		Name, Image string
		Platforms   []string
	}
	hub(t, "images", &images)
	if got := container(t, nil).Image; len(images) != 1 || images[0].Image != got {
		t.Errorf("images = %+v, want %s", images, got)
	}
}

func TestArtifactHubIsToldTheCRDWithAnExampleThatFitsIt(t *testing.T) {
	var crds []struct{ Kind, Version, Name, DisplayName, Description string }
	hub(t, "crds", &crds)
	if len(crds) != 1 || crds[0].Kind != v1.Kind || crds[0].Version != v1.GroupVersion.Version || !strings.HasSuffix(crds[0].Name, "."+v1.GroupVersion.Group) {
		t.Errorf("crds = %+v, want %s", crds, v1.Kind)
	}
	var examples []json.RawMessage
	hub(t, "crdsExamples", &examples)
	for _, example := range examples {
		decode(t, string(example)) // strictly
	}
	if len(examples) == 0 {
		t.Error("there is no example")
	}
}

func TestArtifactHubIsToldNoSigningKeyThatIsNotThere(t *testing.T) {
	if key, ok := loadChart(t).Metadata.Annotations["artifacthub.io/signKey"]; ok {
		t.Errorf("signKey = %q: charts are signed with cosign, not with a PGP key", key)
	}
}
