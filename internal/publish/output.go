package publish

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gpu-inventory/gpu-inventory-operator/internal/metrics"
)

// Output brings the objects of one kind up to date.
type Output[T client.Object] struct {
	*Publisher
	// Names are those of the output in metrics and errors.
	Names Names
	// Writer is what is different about this output.
	Writer Writer[T]
	// Record is what this process knows about the objects.
	Record *Record[T]
}

// Names name an output.
type Names struct {
	// Controller is the controller's name, one of the controllers of the package metrics.
	Controller string
	// Output is what is written, one of the outputs of the package metrics.
	Output string
	// Object names what is written in errors, such as configmap.
	Object string
}

func (n Names) of(key types.NamespacedName) string {
	if key.Namespace == "" {
		return n.Object + " " + key.Name
	}
	return n.Object + " " + key.String()
}

// Writer is what one output does in its own way.
type Writer[T client.Object] interface {
	// Read returns the object as it is, as far as this process can know; the zero T: there is none, and a write creates it.
	// wanted is false when the object is gone and must not be created. Standbys call it, too.
	Read(ctx context.Context, key types.NamespacedName) (stored T, wanted bool, err error)
	// Settles reports whether the object holds an answer that must not be replaced while inputs are still being read.
	Settles(stored T) bool
	// Compute returns the answer as it is now.
	Compute(stored T) *Answer
	// Draft returns what to apply, or false when the object says all of it already. An error means that trying again is in vain.
	Draft(stored T, answer *Answer) (draft Draft[T], changed bool, err error)
	// Patch sends a server-side apply to the API server, and decodes the response into an object.
	Patch(ctx context.Context, into T, apply client.Patch) error
	// Refused returns the error to report for a write that failed; nil: the object has been deleted meanwhile.
	Refused(ctx context.Context, key types.NamespacedName, err error) error
	// Published is called after each write.
	Published(ctx context.Context, p Publication[T])
}

// Draft is an object that is about to be applied.
type Draft[T client.Object] struct {
	// Apply is what to send, encoded as JSON. It names apiVersion and kind, without which the API server refuses the apply of a
	// status. Its uid and resourceVersion are those of the stored object, so that the API server refuses the late write of a
	// replica that has lost the lead.
	Apply any
	// Into takes the response.
	Into T
	// Shared is what Record.Sent returns from now on; the zero T: nothing.
	Shared T
}

// Publication is a write that succeeded.
type Publication[T client.Object] struct {
	// Stored is the object from before the write, and Written the one from after it.
	Stored, Written T
	// Before is the answer that Stored was written from. Nil: it was not written by this process.
	Before *Answer
	// Answer is the answer that Written was written from.
	Answer *Answer
}

// Reconcile brings one object up to date.
func (o *Output[T]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	stored, wanted, err := o.Writer.Read(ctx, req.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !wanted {
		o.Record.Forget(req.NamespacedName)
	}
	term, cancel, leading := o.Leader.Term(ctx)
	if !leading {
		return ctrl.Result{}, nil // the source of elections enqueues the key when that changes
	}
	defer cancel()
	end := isGone
	if wanted {
		end, err = o.update(ctx, term, req.NamespacedName, stored)
	}
	if err != nil {
		o.Metrics.Reconciled(o.Names.Controller, metrics.ResultError)
		return ctrl.Result{}, err // retried with backoff
	}
	o.Metrics.Reconciled(o.Names.Controller, end.result)
	if end == wasWritten || end == wasEqual {
		o.Metrics.Succeeded(o.Now())
	}
	return ctrl.Result{RequeueAfter: end.again}, nil
}

// update goes the steps that the package comment lists.
func (o *Output[T]) update(ctx, term context.Context, key types.NamespacedName, stored T) (outcome, error) {
	if o.Writer.Settles(stored) && o.Inputs.Settling() {
		return later(settleDelay), nil
	}
	if err := o.seed(term); err != nil {
		return outcome{}, err
	}
	answer := o.Writer.Compute(stored)
	if term.Err() != nil {
		return outcome{}, fmt.Errorf("compute %s: %w", o.Names.of(key), context.Cause(term))
	}
	o.Record.answered(key, answer)
	draft, changed, err := o.Writer.Draft(stored, answer)
	switch {
	case err != nil:
		return outcome{}, reconcile.TerminalError(fmt.Errorf("render %s: %w", o.Names.of(key), err))
	case !changed:
		return wasEqual, nil
	}
	if wait := o.Record.attempt(key, o.Now()); wait > 0 {
		return later(wait), nil
	}
	err = o.apply(term, key, draft)
	switch {
	case apierrors.IsConflict(err):
		o.Record.ForgetWrite(key)
		return collided, nil
	case err != nil:
		return isGone, o.Writer.Refused(ctx, key, err)
	}
	p := Publication[T]{Stored: stored, Written: draft.Into, Before: o.Record.answerOf(key, stored), Answer: answer}
	o.Record.wrote(draft.Into, answer, o.Now())
	o.Writer.Published(ctx, p)
	return wasWritten, nil
}

// apply sends a draft.
func (o *Output[T]) apply(ctx context.Context, key types.NamespacedName, draft Draft[T]) error {
	body, err := json.Marshal(draft.Apply)
	if err != nil {
		return reconcile.TerminalError(fmt.Errorf("encode %s: %w", o.Names.of(key), err))
	}
	o.Record.Sending(key, draft.Shared)
	err = o.Writer.Patch(ctx, draft.Into, client.RawPatch(types.ApplyPatchType, body))
	o.Metrics.Wrote(o.Names.Output, err)
	if err == nil {
		o.Metrics.Size(o.Names.Output, len(body))
	}
	return err
}
