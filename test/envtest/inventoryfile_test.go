package envtest

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
	"github.com/gpu-inventory/gpu-inventory-operator/test/harness"
)

// inventoryFile writes a file for --inventory-file that describes the inventory cluster.
func inventoryFile(path, spec string) {
	GinkgoHelper()
	content := "apiVersion: " + v1.GroupVersion.String() + "\nkind: GpuInventory\nmetadata: {name: cluster}\nspec: " + spec + "\n"
	Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
}

func inventoryCluster(ctx context.Context) func() (*v1.GpuInventory, error) {
	return func() (*v1.GpuInventory, error) {
		inv := &v1.GpuInventory{}
		return inv, k8s.Get(ctx, client.ObjectKey{Name: "cluster"}, inv)
	}
}

// madeAndCounted is totals for an inventory that may not be there yet.
func madeAndCounted(ctx context.Context) func() []int32 {
	return func() []int32 {
		if _, err := inventoryCluster(ctx)(); err != nil {
			return nil
		}
		return totals(ctx, "cluster")()
	}
}

// fileWrites are the requests by which the operator applies the file.
func (o *operator) fileWrites() []harness.Request {
	return o.proxy.Requests(func(r harness.Request) bool {
		return r.Write() && r.Resource == "gpuinventories" && r.Subresource == ""
	})
}

var _ = Describe("The inventory file", func() {
	const applied = "Applied the GpuInventory of the file"
	var path string

	BeforeEach(func(ctx context.Context) {
		freshCluster(ctx)
		deleteInventories(ctx)
		createNodes(ctx, gpuNode("a", 8))
		path = filepath.Join(GinkgoT().TempDir(), "inventory.yaml")
		inventoryFile(path, "{note: from the file, expected: [{name: h100, nodes: 1}]}")
	})

	It("makes the inventory, and a restart changes nothing about it", func(ctx context.Context) {
		o := startOperator(ctx, "--inventory-file="+path)
		Eventually(inventoryCluster(ctx)).Should(HaveField("Spec.Note", "from the file"))
		Eventually(madeAndCounted(ctx)).Should(Equal([]int32{1, 1, 8}))
		Eventually(o.ready).Should(Succeed())
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpus=8"))
		version := inventoryVersion(ctx)

		o.restart()
		Eventually(o.Logged).WithArguments(applied).Should(HaveLen(1))
		Eventually(func() (string, error) { return o.Metrics() }).Should(ContainSubstring(`gpu_inventory_nodes{inventory="cluster"} 1`))
		Consistently(func() string { return inventoryVersion(ctx) }, "2s").Should(Equal(version))
		Expect(o.fileWrites()).To(HaveLen(1), "one request a term, which changes nothing")
		Expect(o.statusWrites() - len(o.fileWrites())).To(BeZero())
	})

	It("is applied again when it has changed, and leaves alone what it never said", func(ctx context.Context) {
		o := startOperator(ctx, "--inventory-file="+path)
		Eventually(madeAndCounted(ctx)).Should(Equal([]int32{1, 1, 8}))
		Expect(o.Stop()).To(Succeed())

		By("somebody who adds a label and a selector, and changes a field of the file")
		theirs := `{"metadata":{"labels":{"team":"ml"}},"spec":{"note":"mine","nodeSelector":{"matchLabels":{"nvidia.com/gpu.present":"true"}}}}`
		inv, err := inventoryCluster(ctx)()
		Expect(err).NotTo(HaveOccurred())
		Expect(k8s.Patch(ctx, inv, client.RawPatch(types.MergePatchType, []byte(theirs)), client.FieldOwner("somebody"))).To(Succeed())

		inventoryFile(path, "{note: of today}")
		o.start()
		Eventually(inventoryCluster(ctx)).Should(And(
			HaveField("Spec.Note", "of today"),
			HaveField("Spec.Expected", BeEmpty()),
			HaveField("Labels", HaveKeyWithValue("team", "ml")),
			HaveField("Spec.NodeSelector.MatchLabels", HaveKey("nvidia.com/gpu.present"))))
		Eventually(o.ready).Should(Succeed())
	})

	It("takes over an inventory that somebody else has made", func(ctx context.Context) {
		createInventory(ctx, "cluster", func(inv *v1.GpuInventory) { inv.Spec.Note = "made by hand" })
		before, err := inventoryCluster(ctx)()
		Expect(err).NotTo(HaveOccurred())
		startOperator(ctx, "--inventory-file="+path)
		Eventually(inventoryCluster(ctx)).Should(And(HaveField("Spec.Note", "from the file"), HaveField("UID", before.UID)))
	})

	It("does not bring back what somebody deletes while the operator runs, but the next start does", func(ctx context.Context) {
		o := startOperator(ctx, "--inventory-file="+path)
		Eventually(madeAndCounted(ctx)).Should(Equal([]int32{1, 1, 8}))
		deleteInventories(ctx)
		Consistently(func() bool { _, err := inventoryCluster(ctx)(); return apierrors.IsNotFound(err) }, "2s").Should(BeTrue())
		Expect(o.ready()).To(Succeed())
		o.restart()
		Eventually(madeAndCounted(ctx)).Should(Equal([]int32{1, 1, 8}))
	})

	It("is left to the leader", func(ctx context.Context) {
		a := startOperator(ctx, "--inventory-file="+path)
		Eventually(a.Logged).WithArguments(applied).Should(HaveLen(1))
		b := startOperator(ctx, "--inventory-file="+path)
		Eventually(b.ready).Should(Succeed())
		Consistently(b.fileWrites, "1s").Should(BeEmpty())
		Expect(a.Stop()).To(Succeed())
		Eventually(b.Logged).WithArguments(applied).Should(HaveLen(1))
	})

	It("waits for a CRD that is missing", func(ctx context.Context) {
		c, crd := crdClient()
		restore := func(ctx context.Context) {
			Expect(client.IgnoreAlreadyExists(c.Create(ctx, crd.DeepCopy()))).To(Succeed())
			Eventually(func() error { return k8s.List(ctx, &v1.GpuInventoryList{}) }).Should(Succeed())
		}
		DeferCleanup(restore)
		Expect(c.Delete(ctx, crd.DeepCopy())).To(Succeed())
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(crd), crd.DeepCopy())) }).Should(BeTrue())

		o := startOperator(ctx, "--inventory-file="+path)
		const waits = "Cannot apply the GpuInventory of the file, trying again"
		Eventually(o.Logged).WithArguments(waits).Should(ContainElement(HaveKeyWithValue("err", ContainSubstring("the GpuInventory CRD is not installed"))))
		Consistently(o.ready, "3s").ShouldNot(Succeed())
		Expect(len(o.Logged(waits))).To(BeNumerically("<=", 2), "once for each way in which it is missing")
		restore(ctx)
		Eventually(madeAndCounted(ctx), "45s").Should(Equal([]int32{1, 1, 8}))
		Eventually(o.ready, "15s").Should(Succeed())
	})

	It("waits for a permission, and says what is invalid", func(ctx context.Context) {
		inventoryFile(path, "{expected: [{name: NOT-a-name, nodes: 1}]}")
		o := startOperator(ctx, "--inventory-file="+path)
		Eventually(o.Log).Should(And(ContainSubstring("spec.expected[0].name"), ContainSubstring("correct the file and restart the operator")))
		Expect(o.ready()).NotTo(Succeed())
		Eventually(configMapSummary(ctx)).Should(ContainSubstring("gpus=8"), "the rest goes on")
		Expect(o.Stop()).To(Succeed())

		inventoryFile(path, "{}")
		o.proxy.SetFault(func(w http.ResponseWriter, r harness.Request, forward func(http.ResponseWriter)) bool {
			return r.Verb == "patch" && r.Subresource == "" && forbidden("gpuinventories")(w, r, forward)
		})
		o.start()
		Eventually(o.Log).Should(ContainSubstring("needs create and patch on the GpuInventory of this name"))
		Expect(o.ready()).NotTo(Succeed())
		o.proxy.SetFault(nil)
		Eventually(madeAndCounted(ctx), "35s").Should(Equal([]int32{1, 1, 8}))
		Eventually(o.ready).Should(Succeed())
	})

	It("ends the program at once when it cannot be used", func(ctx context.Context) {
		Expect(os.WriteFile(path, []byte("kind: Node\n"), 0o600)).To(Succeed())
		o := startOperator(ctx, "--inventory-file="+path)
		Eventually(o.Exited()).Should(BeClosed())
		Expect(o.Stop()).To(MatchError(ContainSubstring("exit status 2")))
		Expect(strings.Count(o.Log(), "\n")).To(Equal(1), o.Log())
	})
})
