package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/blame"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// blameTime bounds the search for what nginx refuses. What was found until
// then is left out, and the next sync goes on from there.
const blameTime = 30 * time.Second

// suspect is what nginx may refuse: an ingress or a key of the ConfigMap.
type suspect struct {
	ingress *networkingv1.Ingress
	key     string
}

// trial is a search for the suspects for which nginx refuses a cluster. One
// that is left out counts by its earlier version, or not at all.
type trial struct {
	*controller
	cluster  snapshot.Snapshot
	suspects map[suspect]bool
	earlier  bool
}

// withoutRefused is the cluster without what nginx refuses, and a finding for
// each of that.
func (c *controller) withoutRefused(cluster snapshot.Snapshot) (snapshot.Snapshot, []model.Finding) {
	cluster, ingresses := c.outcasts.from(cluster, cluster.ConfigMaps[c.ConfigMap])
	cluster, keys := c.refusedKeys.from(cluster, c.ConfigMap)
	return cluster, slices.Concat(keys, ingresses)
}

// took notes that nginx took a cluster.
func (c *controller) took(cluster snapshot.Snapshot) {
	c.outcasts.took(cluster.Ingresses)
	c.refusedKeys.ever, c.refusedKeys.taken = true, dataOf(cluster, c.ConfigMap)
}

// reconsider asks nginx again about the keys without which nothing is served: what
// they refer to may have been mended.
func (c *controller) reconsider(ctx context.Context, cluster snapshot.Snapshot) {
	closed := c.refusedKeys.reopen()
	if len(closed) == 0 {
		return
	}
	cluster, _ = c.withoutRefused(cluster)
	if c.tryInput(ctx, cluster, *c.input.Load()) != nil {
		maps.Copy(c.refusedKeys.byName, closed) // forgotten when their values have changed
	}
}

// blame looks for that for which nginx refused the cluster, casts it out and
// says whether there is any. What nginx has not taken before is suspected first;
// if it is none of that, because what it refers to has changed, all is. Keys come
// before ingresses, whose snippets rely on them.
func (c *controller) blame(ctx context.Context, cluster snapshot.Snapshot, refusal *apply.Refusal) bool {
	ctx, cancel := context.WithTimeoutCause(ctx, blameTime, fmt.Errorf("not within %v", blameTime))
	defer cancel()
	cluster, _ = c.withoutRefused(cluster)
	data := dataOf(cluster, c.ConfigMap)
	changed := suspectsOf(c.refusedKeys.changed(data), c.outcasts.changed(cluster.Ingresses))
	guilty, innocent, err := c.try(ctx, cluster, changed, true, refusal)
	if innocent {
		all := suspectsOf(suspicious(slices.Collect(maps.Keys(data))), cluster.Ingresses)
		guilty, _, err = c.try(ctx, cluster, all, false, refusal)
	}
	if err != nil {
		c.Log.Warn("the search for what nginx refuses was cut short", "error", err.Error())
	}
	return guilty > 0
}

// try casts the guilty among suspects out and says how many there are.
func (c *controller) try(ctx context.Context, cluster snapshot.Snapshot, suspects []suspect, earlier bool, refusal *apply.Refusal) (count int, innocent bool, err error) {
	t := trial{controller: c, cluster: cluster, suspects: setOf(suspects), earlier: earlier}
	guilty, innocent, err := blame.Find(suspects, func(part []suspect) (bool, error) {
		refusal, err := t.ask(ctx, part)
		return refusal == nil, err
	})
	t.suspects = setOf(guilty)
	reasons := make(map[suspect]string)
	for _, one := range guilty {
		words := refusal
		if len(guilty) > 1 { // each has its own
			if own, _ := t.ask(ctx, []suspect{one}); own != nil {
				words = own
			}
		}
		reasons[one] = words.Unwrap().Error()
	}
	for _, one := range guilty {
		t.castOut(one, reasons[one])
	}
	return len(guilty), innocent, err
}

// castOut leaves a suspect out from now on.
func (t trial) castOut(guilty suspect, reason string) {
	if ingress := guilty.ingress; ingress != nil {
		out := outcast{refused: ingress, instead: t.ingressInstead(ingress), reason: reason}
		t.outcasts.add(out)
		t.events.Event(ingress, corev1.EventTypeWarning, "Refused", out.finding().Reason)
		return
	}
	refused := refusedKey{value: valueOf(dataOf(t.cluster, t.ConfigMap), guilty.key), instead: t.valueInstead(guilty.key), reason: reason}
	refused.closed = !t.earlier || !t.refusedKeys.ever
	t.refusedKeys.add(guilty.key, refused)
	if config := t.cluster.ConfigMaps[t.ConfigMap]; config != nil {
		t.events.Event(config, corev1.EventTypeWarning, "Refused", guilty.key+": "+refused.finding(t.ConfigMap, guilty.key).Reason)
	}
}

func (t trial) ingressInstead(ingress *networkingv1.Ingress) *networkingv1.Ingress {
	if !t.earlier {
		return nil
	}
	return t.outcasts.earlier(ingress)
}

func (t trial) valueInstead(key string) *string {
	if !t.earlier {
		return nil
	}
	return valueOf(t.refusedKeys.taken, key)
}

// ask asks nginx about the cluster with those of the suspects that are in part.
func (t trial) ask(ctx context.Context, part []suspect) (*apply.Refusal, error) {
	kept := setOf(part)
	out := func(one suspect) bool { return t.suspects[one] && !kept[one] }
	cluster := t.cluster
	cluster.Ingresses = nil
	for _, ingress := range t.cluster.Ingresses {
		if out(suspect{ingress: ingress}) {
			if ingress = t.ingressInstead(ingress); ingress == nil {
				continue
			}
		}
		cluster.Ingresses = append(cluster.Ingresses, ingress)
	}
	instead := make(map[string]*string)
	for one := range t.suspects {
		if one.key != "" && out(one) {
			instead[one.key] = t.valueInstead(one.key)
		}
	}
	err := t.tryInput(ctx, withKeys(cluster, t.ConfigMap, instead), *t.input.Load())
	var refusal *apply.Refusal
	if errors.As(err, &refusal) {
		return refusal, nil
	}
	return nil, err
}

func suspectsOf(keys []string, ingresses []*networkingv1.Ingress) []suspect {
	var all []suspect
	for _, key := range keys {
		all = append(all, suspect{key: key})
	}
	for _, ingress := range ingresses {
		all = append(all, suspect{ingress: ingress})
	}
	return all
}

func setOf(suspects []suspect) map[suspect]bool {
	set := make(map[suspect]bool, len(suspects))
	for _, one := range suspects {
		set[one] = true
	}
	return set
}
