package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// roll takes one step of a rolling update: up with the new ReplicaSet as far as
// the surge allows, down with the old ones as far as the available pods do.
func (d *deployment) roll(ctx context.Context, r *rollout) error {
	surge, unavailable := fence(r)
	wanted := *r.Spec.Replicas
	// A ReplicaSet that has been scaled down may still have the pods.
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

// shrink scales the old ReplicaSets down, oldest first: the pods that are not
// available anyway, then others while floor are.
func (d *deployment) shrink(ctx context.Context, r *rollout, floor int32) error {
	var serving int32
	for _, rs := range r.all() {
		serving += available(rs)
	}
	spare := max(0, serving-floor)
	for _, rs := range r.old {
		idle := *rs.Spec.Replicas - available(rs)
		take := min(spare, available(rs))
		// A ReplicaSet ends its idle pods first; only one that has just been scaled
		// says nothing yet of which these are.
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

// fence returns how many pods more and less than wanted there may be: both
// zero would be a standstill.
func fence(r *rollout) (surge, unavailable int32) {
	rolling := r.Spec.Strategy.RollingUpdate
	wanted := int(*r.Spec.Replicas)
	up, _ := intstr.GetScaledValueFromIntOrPercent(rolling.MaxSurge, wanted, true) // zero if it is no number
	down, _ := intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, wanted, false)
	if up == 0 && down == 0 {
		down = 1
	}
	return int32(up), int32(min(down, wanted))
}
