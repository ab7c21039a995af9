package chart

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func crdValues(values map[string]any) map[string]any { return map[string]any{"crds": values} }

func TestUpgradeAfterTheCRDWasDeletedBringsBothBack(t *testing.T) {
	c := newCluster(t)
	c.install(t, nil)
	c.deleteCRD(t)
	c.upgrade(t, note("two"))
	c.assertNote(t, "two")

	// Once the inventory is a resource of the release, Helm cannot read the release without its API.
	c.upgrade(t, note("three"))
	c.deleteCRD(t)
	err := c.tryUpgrade(t, note("four"))
	for _, want := range []string{`no matches for kind "GpuInventory"`, "current release manifest"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("upgrade: %v, want %q in it", err, want)
		}
	}
	c.applyCRD(t)
	crd, err := c.crd(t)
	if err != nil {
		t.Fatal(err)
	}
	crd.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
	crd.Annotations["meta.helm.sh/release-name"], crd.Annotations["meta.helm.sh/release-namespace"] = releaseName, c.namespace
	if err := c.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	c.upgrade(t, note("four"))
	c.assertNote(t, "four")
}

func TestUninstallWithoutKeepDeletesCRDAndInventories(t *testing.T) {
	for name, upgrades := range map[string]int{"created by a hook": 0, "a resource of the release": 1} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			values := crdValues(map[string]any{"keep": false})
			c.install(t, values)
			for range upgrades {
				c.upgrade(t, values)
			}
			c.inventory(t)
			c.uninstall(t)
			c.waitForAPIGone(t.Context(), t)
			if _, err := c.crd(t); !apierrors.IsNotFound(err) {
				t.Errorf("get CRD: %v, want that it is not found", err)
			}
		})
	}
}

func TestUpgradeMayChangeItsMindAboutKeep(t *testing.T) {
	c := newCluster(t)
	c.install(t, crdValues(map[string]any{"keep": false}))
	before := c.use(t)
	c.upgrade(t, crdValues(map[string]any{"keep": true}))
	c.uninstall(t)
	c.assertSurvived(t, before)
}

func TestUpgradeWithoutCRDsDeletesTheCRDOnlyIfItWasNotKept(t *testing.T) {
	for name, keep := range map[string]bool{"kept": true, "not kept": false} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.install(t, crdValues(map[string]any{"keep": keep}))
			c.upgrade(t, map[string]any{"crds": map[string]any{"install": false}, "inventory": map[string]any{"create": false}})
			if keep {
				c.inventory(t)
			} else {
				c.waitForAPIGone(t.Context(), t)
			}
		})
	}
}

func TestInstallWithoutCRDsOnAClusterThatHasNoneSaysSoAndCreatesNothing(t *testing.T) {
	c := newCluster(t)
	err := c.tryInstall(t, crdValues(map[string]any{"install": false}))
	for _, want := range []string{`no matches for kind "GpuInventory" in version "homelab.youngju.dev/v1"`, "ensure CRDs are installed first"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("install: %v, want %q in it", err, want)
		}
	}
	c.assertGone(t, &appsv1.Deployment{}, releaseName)
	if _, err := action.NewGet(c.helm(t)).Run(releaseName); err == nil {
		t.Error("there is a release, want none")
	}
}

func TestInstallWithoutCRDsOnAClusterThatHasThem(t *testing.T) {
	c := newCluster(t)
	c.applyCRD(t)
	values := crdValues(map[string]any{"install": false})
	c.install(t, values)
	before := c.use(t)
	c.upgrade(t, values)
	c.assertSurvived(t, before)
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
