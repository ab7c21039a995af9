package chart

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestUpgradeAfterTheCRDWasDeletedBringsBothBack(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	c.operate(t)
	c.deleteCRD(t)
	c.upgrade(t, note("two"))
	c.operate(t)
	c.assertNote(t, "two")
}

func TestUninstallWithoutKeepDeletesCRDAndInventories(t *testing.T) {
	c := newCluster(t)
	c.install(t, set("crds.keep", false))
	c.operate(t)
	c.uninstall(t)
	c.waitForAPIGone(t.Context(), t)
	if _, err := c.crd(t); !apierrors.IsNotFound(err) {
		t.Errorf("get CRD: %v, want that it is not found", err)
	}
}

func TestUpgradeMayChangeItsMindAboutKeep(t *testing.T) {
	c := newCluster(t)
	c.install(t, set("crds.keep", false))
	c.operate(t)
	before := c.use(t)
	c.upgrade(t, set("crds.keep", true))
	c.uninstall(t)
	c.assertSurvived(t, before)
}

func TestUpgradeWithoutCRDsDeletesTheCRDOnlyIfItWasNotKept(t *testing.T) {
	for name, keep := range map[string]bool{"kept": true, "not kept": false} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.install(t, set("crds.keep", keep))
			c.operate(t)
			c.upgrade(t, set("crds.install", false))
			if keep {
				c.inventory(t)
			} else {
				c.waitForAPIGone(t.Context(), t)
			}
		})
	}
}

// The pods then say in /readyz what is missing, and become ready when it comes.
func TestInstallWithoutCRDsOnAClusterThatHasNoneIsReadyWhenTheyCome(t *testing.T) {
	c := newCluster(t)
	c.install(t, set("crds.install", false, "inventory.note", "one"))
	m := c.start(t)
	c.applyCRD(t)
	c.waitForReady(t, m)
	c.assertNote(t, "one")
}

func TestInstallWithoutCRDsOnAClusterThatHasThem(t *testing.T) {
	c := newCluster(t)
	c.applyCRD(t)
	values := set("crds.install", false)
	c.install(t, values)
	c.operate(t)
	before := c.use(t)
	c.upgrade(t, values)
	c.uninstall(t)
	c.assertSurvived(t, before)
	crd, err := c.crd(t)
	if err != nil {
		t.Fatal(err)
	}
	if got := crd.Annotations["meta.helm.sh/release-name"]; got != "" {
		t.Errorf("the CRD belongs to the release %q, want it left alone", got)
	}
}

func TestUpgradeBringsANewCRD(t *testing.T) {
	c := newCluster(t)
	c.install(t, nil)
	for _, file := range c.chart.Files {
		if strings.HasPrefix(file.Name, "files/crds/") {
			file.Data = []byte(strings.Replace(string(file.Data), "It changes nothing.", "It changes nothing at all.", 1))
		}
	}
	c.upgrade(t, nil)
	crd, err := c.crd(t)
	if err != nil {
		t.Fatal(err)
	}
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	if got := spec.Properties["note"].Description; !strings.HasSuffix(got, "at all.") {
		t.Errorf("description of spec.note = %q, want that of the new chart", got)
	}
}
