package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"
	appsv1 "k8s.io/api/apps/v1"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

func note(text string) map[string]any { return set("inventory.note", text) }

// live is what an operator and a user have made of an inventory since it was installed.
type live struct {
	uid      string
	nodes    *int32
	expected []v1.ExpectedPool
}

// use has a user set pools with kubectl, which the values do not set.
func (c *cluster) use(t *testing.T) live {
	t.Helper()
	c.patch(t, map[string]any{"spec": map[string]any{"expected": []any{map[string]any{"name": "pool", "nodes": 4}}}})
	return c.live(t)
}

func (c *cluster) live(t *testing.T) live {
	t.Helper()
	inventory := c.inventory(t)
	return live{uid: string(inventory.UID), nodes: inventory.Status.TotalGpuNodes, expected: inventory.Spec.Expected}
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

func TestInstallBringsTheCRDAndTheOperatorTheInventory(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	if _, err := c.crd(t); err != nil {
		t.Fatalf("get CRD: %v", err)
	}
	c.assertGone(t, &v1.GpuInventory{}, "cluster") // Helm makes none
	c.operate(t)
	c.assertNote(t, "one")
	inventory := c.inventory(t)
	if got := inventory.Labels["app.kubernetes.io/managed-by"]; got != "gpu-inventory-operator" {
		t.Errorf("managed by %q, want gpu-inventory-operator", got)
	}
	for _, annotations := range []string{"meta.helm.sh/release-name", "helm.sh/hook"} {
		if got, ok := inventory.Annotations[annotations]; ok {
			t.Errorf("annotation %s = %q, want none: it is not Helm's", annotations, got)
		}
	}
}

func TestUpgradeGivesTheInventoryTheValuesAndLeavesItsStatusAndEdits(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	c.operate(t)
	before := c.use(t)

	c.upgrade(t, note("two"))
	c.operate(t)
	c.assertSurvived(t, before)
	c.assertNote(t, "two")

	c.patch(t, map[string]any{"spec": map[string]any{"note": "mine"}})
	c.operate(t) // a field that the values set is put back
	c.assertSurvived(t, before)
	c.assertNote(t, "two")

	c.upgrade(t, note("")) // unset in the values: not in the manifest, and so taken back
	c.operate(t)
	c.assertSurvived(t, before)
	c.assertNote(t, "")
}

func TestRollbackGivesTheInventoryTheEarlierValues(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	c.operate(t)
	before := c.use(t)
	c.upgrade(t, note("two"))
	c.operate(t)
	rollback := action.NewRollback(c.helm(t))
	rollback.Version, rollback.Timeout = 1, timeout
	if err := rollback.Run(releaseName); err != nil {
		t.Fatalf("rollback: %v", err)
	}
	c.operate(t)
	c.assertSurvived(t, before)
	c.assertNote(t, "one")
}

func TestUninstallKeepsCRDAndInventoryAndAnotherInstallTakesThemOver(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	c.operate(t)
	before := c.use(t)
	c.uninstall(t)
	c.assertGone(t, &appsv1.Deployment{}, releaseName)
	if _, err := c.crd(t); err != nil {
		t.Fatalf("get CRD: %v", err)
	}
	c.assertSurvived(t, before)
	c.assertNote(t, "one")

	c.install(t, note("two"))
	c.operate(t)
	c.assertSurvived(t, before)
	c.assertNote(t, "two")
}

func TestInstallUnderAnotherNameNeedsToTakeOwnership(t *testing.T) {
	c := newCluster(t)
	c.install(t, nil)
	c.uninstall(t)

	other := func(i *action.Install) { i.ReleaseName = "other" }
	err := c.tryInstall(t, nil, other)
	if err == nil || !strings.Contains(err.Error(), "invalid ownership metadata") {
		t.Errorf("install under another name: %v, want a complaint about ownership", err)
	}
	c.install(t, nil, other, func(i *action.Install) { i.TakeOwnership = true })
	uninstall := action.NewUninstall(c.helm(t))
	uninstall.Timeout = timeout
	if _, err := uninstall.Run("other"); err != nil {
		t.Errorf("uninstall: %v", err)
	}
}

func TestRestartCreatesAnInventoryThatWasDeleted(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	c.operate(t)
	if err := c.Delete(t.Context(), c.inventory(t)); err != nil {
		t.Fatal(err)
	}
	c.operate(t)
	c.assertNote(t, "one")
}

func TestUpgradeWithoutAnInventoryKeepsTheOneThatIsThere(t *testing.T) {
	c := newCluster(t)
	c.install(t, note("one"))
	c.operate(t)
	before := c.use(t)
	c.upgrade(t, set("inventory.create", false))
	c.operate(t)
	c.assertSurvived(t, before)
	c.assertNote(t, "one")
}

func TestUninstallLeavesNothingOfTheTest(t *testing.T) {
	c := newCluster(t)
	c.install(t, nil)
	for _, object := range renderTest(t, nil) {
		c.assertGone(t, object, object.GetName()) // only while it runs
	}
}
