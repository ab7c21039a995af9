package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func inventoryValues(values map[string]any) map[string]any {
	return map[string]any{"inventory": values}
}

func note(text string) map[string]any { return inventoryValues(map[string]any{"note": text}) }

// live is what an operator and a user have made of an inventory since it was installed.
type live struct {
	uid      string
	status   v1.GpuInventoryStatus
	expected []v1.ExpectedPool
}

// use writes a status, as the operator would, and pools, as a user would with kubectl.
func (c *cluster) use(t *testing.T) live {
	t.Helper()
	c.patch(t, "status", map[string]any{"status": map[string]any{"totalGpuNodes": 4, "readyGpuNodes": 0}})
	c.patch(t, "", map[string]any{"spec": map[string]any{"expected": []any{map[string]any{"name": "pool", "nodes": 4}}}})
	return c.live(t)
}

func (c *cluster) live(t *testing.T) live {
	t.Helper()
	inventory := c.inventory(t)
	return live{uid: string(inventory.UID), status: inventory.Status, expected: inventory.Spec.Expected}
}

// assertSurvived checks that the inventory is the same object, with its status and what the user put into it.
func (c *cluster) assertSurvived(t *testing.T, want live) {
	t.Helper()
	if diff := cmp.Diff(want, c.live(t), cmp.AllowUnexported(live{})); diff != "" {
		t.Errorf("inventory (-before +after):\n%s", diff)
	}
}

func (c *cluster) assertNote(t *testing.T, want string) {
	t.Helper()
	if got := c.inventory(t).Spec.Note; got != want {
		t.Errorf("spec.note = %q, want %q", got, want)
	}
}

func TestFirstInstallCreatesTheCRDAndThenTheInventory(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	c.assertNote(t, "one")
	inventory := c.inventory(t)
	for key, want := range map[string]string{
		"meta.helm.sh/release-name": releaseName, "meta.helm.sh/release-namespace": c.namespace, "helm.sh/resource-policy": "keep",
	} {
		if got := inventory.Annotations[key]; got != want {
			t.Errorf("annotation %s = %q, want %q", key, got, want)
		}
	}
}

func TestUpgradeKeepsTheInventoryWithItsStatusAndEdits(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	before := c.use(t)

	// Helm 3 compares an object that it adopts with itself, and so changes nothing of it.
	c.upgrade(t, note("two"))
	c.assertSurvived(t, before)
	c.assertNote(t, "one")

	c.upgrade(t, note("three"))
	c.assertSurvived(t, before)
	c.assertNote(t, "three")

	c.patch(t, "", map[string]any{"spec": map[string]any{"note": "mine"}})
	c.upgrade(t, note("three")) // a value that stays the same leaves an edit alone
	c.assertSurvived(t, before)
	c.assertNote(t, "mine")

	c.upgrade(t, note("")) // unset in the values: not in the manifest, so that Helm removes what it had set
	c.assertSurvived(t, before)
	c.assertNote(t, "")
}

func TestForcedUpgradeGivesAnAdoptedInventoryTheValues(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	before := c.use(t)
	c.upgrade(t, note("two"), func(u *action.Upgrade) { u.Force = true })
	before.expected = nil // --force replaces the whole spec
	c.assertSurvived(t, before)
	c.assertNote(t, "two")
}

func TestRollbackKeepsTheInventory(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	before := c.use(t)
	c.upgrade(t, note("two"))
	rollback := action.NewRollback(c.helm(t))
	rollback.Version, rollback.Timeout = 1, timeout
	if err := rollback.Run(releaseName); err != nil {
		t.Fatalf("rollback: %v", err)
	}
	c.assertSurvived(t, before)
}

func TestUninstallKeepsCRDAndInventoryAndAnotherInstallAdoptsThem(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	before := c.use(t)
	for _, text := range []string{"two", "three"} { // first the inventory is a hook's, then a resource of the release
		c.uninstall(t)
		c.assertGone(t, &appsv1.Deployment{}, releaseName)
		if _, err := c.crd(t); err != nil {
			t.Fatalf("get CRD: %v", err)
		}
		c.assertSurvived(t, before)

		c.install(t, note(text))
		c.assertSurvived(t, before)
		c.assertNote(t, "one") // adopted as it is

		before = c.live(t)
	}
	c.upgrade(t, note("four"))
	c.assertSurvived(t, before)
	c.assertNote(t, "four")
}

func TestInstallUnderAnotherNameNeedsToTakeOwnership(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	before := c.use(t)
	c.uninstall(t)

	other := func(i *action.Install) { i.ReleaseName = "other" }
	err := c.tryInstall(t, note("two"), other)
	if err == nil || !strings.Contains(err.Error(), "invalid ownership metadata") {
		t.Errorf("install under another name: %v, want a complaint about ownership", err)
	}
	c.assertSurvived(t, before)

	c.install(t, note("two"), other, func(i *action.Install) { i.TakeOwnership = true })
	t.Cleanup(func() {
		uninstall := action.NewUninstall(c.helm(t))
		uninstall.Timeout = timeout
		if _, err := uninstall.Run("other"); err != nil {
			t.Errorf("uninstall: %v", err)
		}
	})
	c.assertSurvived(t, before)
	c.assertNote(t, "two")
}

func TestUpgradeCreatesAnInventoryThatWasDeleted(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	for _, text := range []string{"two", "three"} { // first the inventory was a hook's, then a resource of the release
		if err := c.Delete(t.Context(), c.inventory(t)); err != nil {
			t.Fatal(err)
		}
		c.upgrade(t, note(text))
		c.assertNote(t, text)
	}
}

func TestUpgradeWithoutAnInventoryKeepsTheOneThatIsThere(t *testing.T) {
	for name, upgrades := range map[string]int{"created by a hook": 0, "a resource of the release": 1} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.install(t, nil)
			for range upgrades {
				c.upgrade(t, nil)
			}
			before := c.use(t)
			c.upgrade(t, inventoryValues(map[string]any{"create": false}))
			c.assertSurvived(t, before)
		})
	}
}
