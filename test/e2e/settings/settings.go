// Package settings reads what the end-to-end suite is told by its environment. It is pure: the environment comes as a
// function.
package settings

import (
	"errors"
	"fmt"
	"strings"
)

// Settings are what the suite is told.
type Settings struct {
	// Kubeconfig is the file that says which cluster, Platform the script that does what no client can do to it.
	Kubeconfig, Platform string
	// Repository and Tag are of the operator's image.
	Repository, Tag string
	// PrometheusImage is of the Prometheus that scrapes, PauseImage of a pod that does nothing.
	PrometheusImage, PauseImage string
	// AuditLog is that of the API server. Empty: there is none to read.
	AuditLog string
}

// Read reads them from variables, such as os.Getenv has. The error names all that are missing.
func Read(env func(string) string) (Settings, error) {
	var missing []string
	need := func(name string) string {
		value := env(name)
		if value == "" {
			missing = append(missing, name)
		}
		return value
	}
	s := Settings{
		Kubeconfig: need("KUBECONFIG"), Platform: need("E2E_PLATFORM"),
		PrometheusImage: need("E2E_PROMETHEUS_IMAGE"), PauseImage: need("E2E_PAUSE_IMAGE"), AuditLog: env("E2E_AUDIT_LOG"),
	}
	image := need("E2E_IMAGE")
	if len(missing) > 0 {
		return Settings{}, fmt.Errorf("not set: %s; make test-e2e sets them, see hack/e2e.sh --help", strings.Join(missing, ", "))
	}
	colon := strings.LastIndex(image, ":")
	if colon <= strings.LastIndex(image, "/") || colon+1 == len(image) {
		return Settings{}, errors.New("E2E_IMAGE=" + image + " has no tag: want REPOSITORY:TAG")
	}
	s.Repository, s.Tag = image[:colon], image[colon+1:]
	return s, nil
}
