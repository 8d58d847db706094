package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/blame"
	"windtunnel.dev/controller/snapshot"
)

// blameTime bounds the search for whom nginx refuses. What was found until
// then is left out, and the next sync goes on from there.
const blameTime = 30 * time.Second

// trial is a search for the ingresses for which nginx refuses a cluster. An
// ingress that is left out counts by its instead.
type trial struct {
	*controller
	cluster  snapshot.Snapshot
	suspects map[*networkingv1.Ingress]bool
	instead  func(*networkingv1.Ingress) *networkingv1.Ingress
}

// blame looks for the ingresses for which nginx refused the cluster, casts them
// out and says whether there are any. Those that nginx has not taken before are
// suspected first; if it is none of them, because what they refer to has
// changed, all are.
func (c *controller) blame(ctx context.Context, cluster snapshot.Snapshot, refusal *apply.Refusal) bool {
	ctx, cancel := context.WithTimeoutCause(ctx, blameTime, fmt.Errorf("not within %v", blameTime))
	defer cancel()
	cluster, _ = c.outcasts.from(cluster, cluster.ConfigMaps[c.ConfigMap])
	guilty, innocent, err := c.try(ctx, cluster, c.outcasts.changed(cluster.Ingresses), c.outcasts.earlier, refusal)
	if innocent {
		none := func(*networkingv1.Ingress) *networkingv1.Ingress { return nil }
		guilty, _, err = c.try(ctx, cluster, cluster.Ingresses, none, refusal)
	}
	if err != nil {
		c.Log.Warn("the search for the ingresses that nginx refuses was cut short", "error", err.Error())
	}
	for _, out := range guilty {
		c.outcasts.add(out)
		c.events.Event(out.refused, corev1.EventTypeWarning, "Refused", out.finding().Reason)
	}
	return len(guilty) > 0
}

// try finds the guilty among suspects.
func (c *controller) try(ctx context.Context, cluster snapshot.Snapshot, suspects []*networkingv1.Ingress,
	instead func(*networkingv1.Ingress) *networkingv1.Ingress, refusal *apply.Refusal) (out []outcast, innocent bool, err error) {
	t := trial{controller: c, cluster: cluster, suspects: setOf(suspects), instead: instead}
	guilty, innocent, err := blame.Find(suspects, func(part []*networkingv1.Ingress) (bool, error) {
		refusal, err := t.ask(ctx, part)
		return refusal == nil, err
	})
	t.suspects = setOf(guilty)
	for _, ingress := range guilty {
		words := refusal
		if len(guilty) > 1 { // each has its own
			if own, _ := t.ask(ctx, []*networkingv1.Ingress{ingress}); own != nil {
				words = own
			}
		}
		out = append(out, outcast{refused: ingress, instead: instead(ingress), reason: words.Unwrap().Error()})
	}
	return out, innocent, err
}

// ask asks nginx about the cluster with those of the suspects that are in part.
func (t trial) ask(ctx context.Context, part []*networkingv1.Ingress) (*apply.Refusal, error) {
	kept := setOf(part)
	cluster := t.cluster
	cluster.Ingresses = nil
	for _, ingress := range t.cluster.Ingresses {
		if t.suspects[ingress] && !kept[ingress] {
			if ingress = t.instead(ingress); ingress == nil {
				continue
			}
		}
		cluster.Ingresses = append(cluster.Ingresses, ingress)
	}
	err := t.tryInput(ctx, cluster, *t.input.Load())
	var refusal *apply.Refusal
	if errors.As(err, &refusal) {
		return refusal, nil
	}
	return nil, err
}

func setOf(ingresses []*networkingv1.Ingress) map[*networkingv1.Ingress]bool {
	set := make(map[*networkingv1.Ingress]bool, len(ingresses))
	for _, ingress := range ingresses {
		set[ingress] = true
	}
	return set
}
