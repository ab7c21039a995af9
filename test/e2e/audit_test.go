package e2e

import (
	"context"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gpu-inventory/gpu-inventory-operator/test/e2e/audit"
)

func byTheAuditLog() {
	var requests []audit.Request
	BeforeEach(func() {
		if helm.settings.AuditLog == "" {
			Skip("E2E_AUDIT_LOG is not set: this cluster's platform gives no audit log to read")
		}
		log, err := os.Open(helm.settings.AuditLog)
		Expect(err).NotTo(HaveOccurred())
		defer log.Close() //nolint:errcheck // only read
		requests, err = audit.Read(log, "system:serviceaccount:"+namespace+":"+releaseName, began)
		Expect(err).NotTo(HaveOccurred())
	})

	It("the operator did nothing that the chart's rules do not name", func(ctx context.Context) {
		Expect(requests).NotTo(BeEmpty(), "requests of the operator in %s", helm.settings.AuditLog)
		granted := grants(ctx)
		Expect(audit.Uncovered(requests, granted)).To(BeEmpty())
		AddReportEntry("granted, and not used in this run", audit.Unused(requests, granted))
	}, SpecTimeout(time.Minute))

	It("nothing was refused to the operator", func(context.Context) {
		for _, r := range requests {
			Expect(r.Refused()).To(BeFalse(), r.String())
		}
	}, SpecTimeout(time.Minute))
}

// grants are the rules of the roles that are bound to the operator's ServiceAccount.
func grants(ctx context.Context) []audit.Grant {
	GinkgoHelper()
	bound := func(subjects []rbacv1.Subject) bool {
		for _, s := range subjects {
			if s.Kind == rbacv1.ServiceAccountKind && s.Namespace == namespace && s.Name == releaseName {
				return true
			}
		}
		return false
	}
	var out []audit.Grant
	add := func(in string, role string, rules []rbacv1.PolicyRule) {
		say("%s: %v", role, rules)
		for _, rule := range rules {
			out = append(out, audit.Grant{Namespace: in, Rule: rule})
		}
	}
	var everywhere rbacv1.ClusterRoleBindingList
	Expect(k8s.List(ctx, &everywhere)).To(Succeed())
	for _, b := range everywhere.Items {
		if bound(b.Subjects) {
			var role rbacv1.ClusterRole
			Expect(k8s.Get(ctx, client.ObjectKey{Name: b.RoleRef.Name}, &role)).To(Succeed())
			add("", role.Name, role.Rules)
		}
	}
	var inOne rbacv1.RoleBindingList
	Expect(k8s.List(ctx, &inOne)).To(Succeed())
	for _, b := range inOne.Items {
		if bound(b.Subjects) {
			var role rbacv1.Role
			Expect(k8s.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: b.RoleRef.Name}, &role)).To(Succeed())
			add(b.Namespace, role.Name, role.Rules)
		}
	}
	return out
}
