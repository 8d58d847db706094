package kubeapi

import (
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rescaling returns the next state of a Scale; owners keeps the account of a Scale's fields.
type rescaling func(old *autoscalingv1.Scale, owners account) (runtime.Object, error)

// rescale changes the replicas of the workload that op names, by changing its Scale.
func (s *clusterState) rescale(op *operation, opts writeOptions, change rescaling) (*object, error) {
	main := *op // what is written is the workload itself
	return s.modify(&main, opts.dryRun, (*object).decode, func(_ *object, old runtime.Object) (runtime.Object, error) {
		return op.scaled(old, change)
	})
}

// scaled returns old with the replicas, and their owners, of its changed Scale.
func (op *operation) scaled(old runtime.Object, change rescaling) (runtime.Object, error) {
	next := old.DeepCopyObject()
	m, gv := metadataOf(next), op.res.groupVersion()
	owners := managedfields.NewScaleHandler(m.ManagedFields, gv, managedfields.ResourcePathMappings{gv.String(): op.res.replicasPath()})
	before, err := op.res.scaleOf(old)
	if err != nil {
		return nil, err
	}
	if before.ManagedFields, err = owners.ToSubresource(); err != nil {
		return nil, fmt.Errorf("reading who owns the replicas: %w", err)
	}
	changed, err := change(before, account{scales, op.subresource})
	if err != nil {
		return nil, err
	}
	scale := changed.(*autoscalingv1.Scale)
	if err := op.validateScale(scale, m.UID); err != nil {
		return nil, err
	}
	if err := op.res.setReplicas(next, scale.Spec.Replicas); err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	if scale.ResourceVersion != "" || !op.res.needsRV {
		m.ResourceVersion = scale.ResourceVersion
	}
	if m.ManagedFields, err = owners.ToParent(scale.ManagedFields); err != nil {
		return nil, fmt.Errorf("recording who owns the replicas: %w", err)
	}
	return next, nil
}

func (op *operation) validateScale(scale *autoscalingv1.Scale, uid types.UID) error {
	if scale.Name == "" {
		return errNoName(op.name)
	}
	if scale.Name != op.name {
		return nameMismatch(scale.Name, op.name)
	}
	if scale.Namespace == "" {
		scale.Namespace = op.namespace
	}
	problems := validation.ValidateObjectMeta(&scale.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	problems = append(problems, validation.ValidateNonnegativeField(int64(scale.Spec.Replicas), field.NewPath("spec", "replicas"))...)
	if err := scales.invalid(op.name, problems); err != nil {
		return err
	}
	if scale.UID != "" && scale.UID != uid {
		of := op.res.groupResource()
		of.Resource += "/" + scaleSubresource
		return errors.NewConflict(of, op.name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", scale.UID, uid))
	}
	return nil
}
