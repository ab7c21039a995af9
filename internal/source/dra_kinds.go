package source

import (
	"context"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	resourcev1client "k8s.io/client-go/kubernetes/typed/resource/v1"
	resourcev1beta1client "k8s.io/client-go/kubernetes/typed/resource/v1beta1"
	resourcev1beta2client "k8s.io/client-go/kubernetes/typed/resource/v1beta2"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/holders"
)

type draClients struct {
	v1      *resourcev1client.ResourceV1Client
	v1beta2 *resourcev1beta2client.ResourceV1beta2Client
	v1beta1 *resourcev1beta1client.ResourceV1beta1Client
}

func newDRAClients(cfg *rest.Config) (c draClients, err error) {
	var errs [3]error
	c.v1, errs[0] = resourcev1client.NewForConfig(cfg)
	c.v1beta2, errs[1] = resourcev1beta2client.NewForConfig(cfg)
	c.v1beta1, errs[2] = resourcev1beta1client.NewForConfig(cfg)
	if err := errors.Join(errs[:]...); err != nil {
		return c, fmt.Errorf("create DRA clients: %w", err)
	}
	return c, nil
}

// sliceKind reads ResourceSlices.
func (d *draFeed) sliceKind(c draClients) *draKind {
	const plural = "ResourceSlices"
	put := target[resourcev1.ResourceSlice]{d.setSlice, d.removeSlice, d.replaceSlices, d.fleet.announce}
	return &draKind{
		plural: plural, resource: "resourceslices", clear: func() { d.replaceSlices(nil) },
		versions: []draVersion{
			{"v1", watching(plural, &resourcev1.ResourceSlice{}, c.v1.ResourceSlices().List, c.v1.ResourceSlices().Watch, put,
				func(s *resourcev1.ResourceSlice) *resourcev1.ResourceSlice { return slim(*s) })},
			{"v1beta2", watching(plural, &resourcev1beta2.ResourceSlice{}, c.v1beta2.ResourceSlices().List, c.v1beta2.ResourceSlices().Watch, put,
				func(s *resourcev1beta2.ResourceSlice) *resourcev1.ResourceSlice { return slim(dra.FromV1beta2(s)) })},
			{"v1beta1", watching(plural, &resourcev1beta1.ResourceSlice{}, c.v1beta1.ResourceSlices().List, c.v1beta1.ResourceSlices().Watch, put,
				func(s *resourcev1beta1.ResourceSlice) *resourcev1.ResourceSlice { return slim(dra.FromV1beta1(s)) })},
		},
	}
}

// slim drops of a slice what nobody reads.
func slim(s resourcev1.ResourceSlice) *resourcev1.ResourceSlice {
	s.ObjectMeta = metav1.ObjectMeta{Name: s.Name}
	return &s
}

// ruleKind reads DeviceTaintRules, in their beta and final versions.
func (d *draFeed) ruleKind(c draClients) *draKind {
	const plural = "DeviceTaintRules"
	put := target[dra.TaintRule]{d.setRule, d.removeRule, d.replaceRules, d.fleet.announce}
	return &draKind{
		plural: plural, resource: "devicetaintrules", clear: func() { d.replaceRules(nil) },
		versions: []draVersion{
			{"v1", watching(plural, &resourcev1.DeviceTaintRule{}, c.v1.DeviceTaintRules().List, c.v1.DeviceTaintRules().Watch, put,
				func(r *resourcev1.DeviceTaintRule) *dra.TaintRule {
					t := r.Spec.Taint
					return ruleOf(r.Name, (*ruleSelector)(r.Spec.DeviceSelector), deviceTaint(t.Key, t.Value, string(t.Effect)))
				})},
			{"v1beta2", watching(plural, &resourcev1beta2.DeviceTaintRule{}, c.v1beta2.DeviceTaintRules().List, c.v1beta2.DeviceTaintRules().Watch, put,
				func(r *resourcev1beta2.DeviceTaintRule) *dra.TaintRule {
					t := r.Spec.Taint
					return ruleOf(r.Name, (*ruleSelector)(r.Spec.DeviceSelector), deviceTaint(t.Key, t.Value, string(t.Effect)))
				})},
		},
	}
}

// ruleSelector selects the devices of a rule, in every version alike.
type ruleSelector resourcev1.DeviceTaintSelector

// ruleOf makes a rule; nil: it selects no device.
func ruleOf(name string, s *ruleSelector, taint dra.DeviceTaint) *dra.TaintRule {
	if s == nil {
		return nil
	}
	return &dra.TaintRule{Name: name, Driver: s.Driver, Pool: s.Pool, Device: s.Device, Taint: taint}
}

func deviceTaint(key, value, effect string) dra.DeviceTaint {
	return dra.DeviceTaint{Key: key, Value: value, Effect: effect}
}

// claimKind reads the ResourceClaims that hold devices.
func claimKind(c draClients, fleet *Fleet) *draKind {
	const plural = "ResourceClaims"
	put := target[claim]{fleet.setClaim, fleet.removeClaim, fleet.replaceClaims, fleet.announce}
	of := func(in *resourcev1.ResourceClaim) *claim {
		if holds, ok := holders.OfClaim(in, fleet.options); ok {
			return &claim{keyOf(in), holds}
		}
		return nil
	}
	const all = metav1.NamespaceAll
	return &draKind{
		plural: plural, resource: "resourceclaims", clear: func() { fleet.replaceClaims(nil) },
		versions: []draVersion{
			{"v1", watching(plural, &resourcev1.ResourceClaim{}, c.v1.ResourceClaims(all).List, c.v1.ResourceClaims(all).Watch, put, of)},
			{"v1beta2", watching(plural, &resourcev1beta2.ResourceClaim{}, c.v1beta2.ResourceClaims(all).List, c.v1beta2.ResourceClaims(all).Watch, put,
				func(in *resourcev1beta2.ResourceClaim) *claim { v1 := holders.FromV1beta2(in); return of(&v1) })},
			{"v1beta1", watching(plural, &resourcev1beta1.ResourceClaim{}, c.v1beta1.ResourceClaims(all).List, c.v1beta1.ResourceClaims(all).Watch, put,
				func(in *resourcev1beta1.ResourceClaim) *claim { v1 := holders.FromV1beta1(in); return of(&v1) })},
		},
	}
}

// target is where what was reduced goes.
type target[T any] struct {
	set     func(*T)
	remove  func(key string)
	replace func([]*T)
	// announce is told of a first list.
	announce func()
}

// watching makes the watch of one version of a kind.
func watching[O object, L runtime.Object, T any](
	plural string, example O,
	list func(context.Context, metav1.ListOptions) (L, error),
	watch func(context.Context, metav1.ListOptions) (watch.Interface, error),
	put target[T], reduce func(O) *T,
) func() (watched, func() bool) {
	return func() (watched, func() bool) {
		s := &sink[O, T]{
			reduce: reduce, key: func(o O) string { return keyOf(o) },
			set: put.set, remove: put.remove, replace: put.replace, announce: put.announce,
		}
		return watched{
			plural: plural, object: example, sink: s, watch: watch,
			list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(ctx, o) },
		}, s.synced.Load
	}
}

// object is what every kind has.
type object interface {
	runtime.Object
	GetNamespace() string
	GetName() string
}

// keyOf is an object's name, with its namespace if it has one.
func keyOf(o object) string {
	if ns := o.GetNamespace(); ns != "" {
		return ns + "/" + o.GetName()
	}
	return o.GetName()
}
