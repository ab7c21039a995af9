package envtest

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/gpu-inventory/gpu-inventory-operator/api/v1"
)

var _ = Describe("The GpuInventory API", func() {
	BeforeEach(freshCluster)

	It("refuses an apply of the status without apiVersion and kind", func(ctx context.Context) {
		apply := func(body string) error {
			inv := &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
			return k8s.Status().Patch(ctx, inv, client.RawPatch(types.ApplyPatchType, []byte(body)), client.FieldOwner("test"))
		}
		err := apply(`{"metadata":{"name":"cluster"},"status":{"totalGpuNodes":1}}`)
		Expect(apierrors.IsBadRequest(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("invalid object type")))
		Expect(apply(`{"apiVersion":"homelab.youngju.dev/v1","kind":"GpuInventory","metadata":{"name":"cluster"},"status":{"totalGpuNodes":1}}`)).To(Succeed())
	})

	DescribeTable("refuses a spec that makes no sense",
		func(ctx context.Context, message string, mod func(*v1.GpuInventorySpec)) {
			inv := &v1.GpuInventory{ObjectMeta: metav1.ObjectMeta{Name: "bad"}}
			mod(&inv.Spec)
			err := k8s.Create(ctx, inv)
			Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("an operator that does not exist", "Unsupported value", func(s *v1.GpuInventorySpec) {
			s.NodeSelector = &v1.NodeSelector{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "a", Operator: "Like"}}}
		}),
		Entry("In without values", "In and NotIn need values", func(s *v1.GpuInventorySpec) {
			s.NodeSelector = &v1.NodeSelector{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "a", Operator: "In"}}}
		}),
		Entry("a pool without a name", "spec.expected[0].name", func(s *v1.GpuInventorySpec) {
			s.Expected = []v1.ExpectedPool{{Nodes: 1}}
		}),
		Entry("two pools of one name", "Duplicate value", func(s *v1.GpuInventorySpec) {
			s.Expected = []v1.ExpectedPool{{Name: "a", Nodes: 1}, {Name: "a", Nodes: 2}}
		}),
		Entry("a negative number of nodes", "spec.expected[0].nodes", func(s *v1.GpuInventorySpec) {
			s.Expected = []v1.ExpectedPool{{Name: "a", Nodes: -1}}
		}),
		Entry("no GPU on each node", "spec.expected[0].gpusPerNode", func(s *v1.GpuInventorySpec) {
			s.Expected = []v1.ExpectedPool{{Name: "a", Nodes: 1, GpusPerNode: new(int32(0))}}
		}),
	)

	It("says that a selector cannot be used, and counts nothing", func(ctx context.Context) {
		createNodes(ctx, gpuNode("a", 8))
		createInventory(ctx, "bad", func(inv *v1.GpuInventory) {
			inv.Spec.NodeSelector = &v1.NodeSelector{MatchLabels: map[string]string{"not a key!": "x"}}
		})
		startOperator(ctx)
		Eventually(func() []metav1.Condition { return status(ctx, "bad").Conditions }).Should(ContainElement(And(
			HaveField("Type", v1.ConditionComplete), HaveField("Status", metav1.ConditionFalse),
			HaveField("Reason", v1.ConditionReasonInvalidSelector), HaveField("Message", ContainSubstring("not a key!")),
		)))
		Expect(status(ctx, "bad").TotalGpuNodes).To(BeNil())
		Eventually(totals(ctx, "cluster")).Should(Equal([]int32{1, 1, 8}))
	})
})
