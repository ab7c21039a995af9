package watch

import (
	"context"
	"errors"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	resourcev1client "k8s.io/client-go/kubernetes/typed/resource/v1"
	resourcev1beta1client "k8s.io/client-go/kubernetes/typed/resource/v1beta1"
	resourcev1beta2client "k8s.io/client-go/kubernetes/typed/resource/v1beta2"
	"k8s.io/client-go/rest"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/dra"
	"github.com/gpu-inventory/gpu-inventory-operator/internal/fleet"
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

// slices returns the kind of ResourceSlices.
func (d *draWatches) slices(c draClients) *draKind {
	const plural = "ResourceSlices"
	keeper := updating(d, d.fleet.Slices())
	return &draKind{
		plural: plural, resource: "resourceslices", clear: func() { keeper.Replace(nil) },
		versions: []draVersion{
			{"v1", reflectionOf(plural, c.v1.ResourceSlices(), keeper, d.fleet.Announce, same[*resourcev1.ResourceSlice])},
			{"v1beta2", reflectionOf(plural, c.v1beta2.ResourceSlices(), keeper, d.fleet.Announce, pointerTo(dra.FromV1beta2))},
			{"v1beta1", reflectionOf(plural, c.v1beta1.ResourceSlices(), keeper, d.fleet.Announce, pointerTo(dra.FromV1beta1))},
		},
	}
}

// taintRules returns the kind of DeviceTaintRules, in their beta and final versions.
func (d *draWatches) taintRules(c draClients) *draKind {
	const plural = "DeviceTaintRules"
	keeper := updating(d, d.fleet.TaintRules())
	fromV1beta2 := func(in *resourcev1beta2.DeviceTaintRule) *resourcev1.DeviceTaintRule {
		taint := in.Spec.Taint
		return &resourcev1.DeviceTaintRule{ObjectMeta: in.ObjectMeta, Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: (*resourcev1.DeviceTaintSelector)(in.Spec.DeviceSelector),
			Taint:          resourcev1.DeviceTaint{Key: taint.Key, Value: taint.Value, Effect: resourcev1.DeviceTaintEffect(taint.Effect)},
		}}
	}
	return &draKind{
		plural: plural, resource: "devicetaintrules", clear: func() { keeper.Replace(nil) },
		versions: []draVersion{
			{"v1", reflectionOf(plural, c.v1.DeviceTaintRules(), keeper, d.fleet.Announce, same[*resourcev1.DeviceTaintRule])},
			{"v1beta2", reflectionOf(plural, c.v1beta2.DeviceTaintRules(), keeper, d.fleet.Announce, fromV1beta2)},
		},
	}
}

// claims returns the kind of ResourceClaims.
func (d *draWatches) claims(c draClients) *draKind {
	const plural, all = "ResourceClaims", metav1.NamespaceAll
	keeper := d.fleet.Claims()
	return &draKind{
		plural: plural, resource: "resourceclaims", clear: func() { keeper.Replace(nil) },
		versions: []draVersion{
			{"v1", reflectionOf(plural, c.v1.ResourceClaims(all), keeper, d.fleet.Announce, same[*resourcev1.ResourceClaim])},
			{"v1beta2", reflectionOf(plural, c.v1beta2.ResourceClaims(all), keeper, d.fleet.Announce, pointerTo(holders.FromV1beta2))},
			{"v1beta1", reflectionOf(plural, c.v1beta1.ResourceClaims(all), keeper, d.fleet.Announce, pointerTo(holders.FromV1beta1))},
		},
	}
}

// lister is what a typed client has for the objects of one version.
type lister[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
}

// object is an object of one version.
type object interface {
	runtime.Object
	fleet.Object
}

// reflectionOf returns what reads one version, whose objects are of type In, into a keeper of objects of type O, which convert
// makes of them.
func reflectionOf[In, O object, L runtime.Object, T any](
	plural string, client lister[L], keeper fleet.Keeper[O, T], onFirstList func(), convert func(In) O,
) func() (reflection, func() bool) {
	return func() (reflection, func() bool) {
		s := &store[In, T]{onFirstList: onFirstList, keeper: fleet.Keeper[In, T]{
			Reduce: func(in In) *T { return keeper.Reduce(convert(in)) },
			Set:    keeper.Set, Remove: keeper.Remove, Replace: keeper.Replace,
		}}
		return reflection{
			plural: plural, object: *new(In), store: s, watch: client.Watch,
			list: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		}, s.synced.Load
	}
}

func same[T any](in T) T { return in }

func pointerTo[In, Out any](convert func(In) Out) func(In) *Out {
	return func(in In) *Out {
		out := convert(in)
		return &out
	}
}
