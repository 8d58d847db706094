package cluster

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/ownership"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// ScaleChange returns the next state of a Scale; owners tracks the owners of a Scale's fields.
type ScaleChange func(old *autoscalingv1.Scale, owners ownership.Tracker) (runtime.Object, error)

// Rescale changes the replicas of the workload that op names, by changing its Scale.
func (s *State) Rescale(op *Operation, opts WriteOptions, change ScaleChange) (*store.Object, error) {
	main := *op // the write goes to the workload itself
	return s.modify(&main, opts.DryRun, (*store.Object).Decode, func(_ *store.Object, old runtime.Object) (runtime.Object, error) {
		return op.scaled(old, change)
	})
}

// scaled returns old with the replicas of its changed Scale and their owners.
func (op *Operation) scaled(old runtime.Object, change ScaleChange) (runtime.Object, error) {
	next := old.DeepCopyObject()
	m, gv := object.Meta(next), op.Resource.GroupVersion()
	owners := managedfields.NewScaleHandler(m.ManagedFields, gv, managedfields.ResourcePathMappings{gv.String(): op.Resource.ReplicasPath()})
	before, err := op.Resource.ScaleOf(old)
	if err != nil {
		return nil, err
	}
	if before.ManagedFields, err = owners.ToSubresource(); err != nil {
		return nil, fmt.Errorf("reading who owns the replicas: %w", err)
	}
	changed, err := change(before, ownership.Tracker{Resource: resource.Scales, Subresource: op.Subresource})
	if err != nil {
		return nil, err
	}
	scale := changed.(*autoscalingv1.Scale)
	if err := op.validateScale(scale, m.UID); err != nil {
		return nil, err
	}
	if err := op.Resource.SetReplicas(next, scale.Spec.Replicas); err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	if scale.ResourceVersion != "" || !op.Resource.NeedsVersion {
		m.ResourceVersion = scale.ResourceVersion
	}
	if m.ManagedFields, err = owners.ToParent(scale.ManagedFields); err != nil {
		return nil, fmt.Errorf("recording who owns the replicas: %w", err)
	}
	return next, nil
}

func (op *Operation) validateScale(scale *autoscalingv1.Scale, uid types.UID) error {
	if scale.Name == "" {
		return errNoName(op.Name)
	}
	if scale.Name != op.Name {
		return nameMismatch(scale.Name, op.Name)
	}
	if scale.Namespace == "" {
		scale.Namespace = op.Namespace
	}
	problems := validation.ValidateObjectMeta(&scale.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	problems = append(problems, validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))...)
	if err := resource.Scales.Invalid(op.Name, problems); err != nil {
		return err
	}
	if scale.UID != "" && scale.UID != uid {
		of := op.Resource.GroupResource()
		of.Resource += "/" + resource.ScaleSubresource
		return errors.NewConflict(of, op.Name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", scale.UID, uid))
	}
	return nil
}
