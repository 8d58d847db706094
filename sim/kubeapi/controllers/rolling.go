package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// roll makes one step of a rolling update: it scales the new ReplicaSet up as far as the surge
// allows, and the old ones down as far as the number of available pods allows.
func (d *deployment) roll(ctx context.Context, r *rollout) error {
	if err := d.ensureNext(ctx, r); err != nil {
		return err
	}
	surge, unavailable := rollingLimits(r)
	wanted := *r.Spec.Replicas
	// After a scale-down, a ReplicaSet may still have more pods than its spec says.
	there := int32(0)
	for _, rs := range r.all() {
		there += max(*rs.Spec.Replicas, rs.Status.Replicas)
	}
	if room := wanted + surge - there; room > 0 || *r.next.Spec.Replicas > wanted {
		if err := d.scale(ctx, r, r.next, min(wanted, *r.next.Spec.Replicas+max(0, room))); err != nil {
			return err
		}
	}
	return d.shrink(ctx, r, wanted-unavailable)
}

// shrink scales down the old ReplicaSets, oldest first. It removes unavailable pods first, then
// others while at least floor pods are available.
func (d *deployment) shrink(ctx context.Context, r *rollout, floor int32) error {
	var serving int32
	for _, rs := range r.all() {
		serving += available(rs)
	}
	spare := max(0, serving-floor)
	for _, rs := range r.old {
		idle := *rs.Spec.Replicas - available(rs)
		take := min(spare, available(rs))
		// A ReplicaSet deletes its unavailable pods first. Right after it was scaled, its status
		// does not show yet which pods these are.
		if rs.Status.ObservedGeneration < rs.Generation {
			idle, take = 0, 0
		}
		if idle+take == 0 {
			continue
		}
		spare -= take
		if err := d.scale(ctx, r, rs, *rs.Spec.Replicas-idle-take); err != nil {
			return err
		}
	}
	return nil
}

// rollingLimits returns how many more pods than wanted may exist, and how many may be unavailable. If
// both are 0, one pod may be unavailable, because otherwise the rollout could not proceed.
func rollingLimits(r *rollout) (surge, unavailable int32) {
	rolling := r.Spec.Strategy.RollingUpdate
	wanted := int(*r.Spec.Replicas)
	up, _ := intstr.GetScaledValueFromIntOrPercent(rolling.MaxSurge, wanted, true) // zero if the value is not a number
	down, _ := intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, wanted, false)
	if up == 0 && down == 0 {
		down = 1
	}
	return int32(up), int32(min(down, wanted))
}
