package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/quarantine"
	"windtunnel.dev/controller/snapshot"
)

// withheld holds the quarantine of refused objects, and the budget of the search for
// them.
type withheld struct {
	quarantine.Quarantine
	budget *quarantine.Budget
	again  *time.Timer // requests a sync that continues the search
	later  time.Time   // no trial before this time, because one could not be run
}

// trialRetry is the pause after a trial that could not be run.
const trialRetry = 5 * time.Second

// follow passes changes of the cluster to the quarantine.
func (c *controller) follow(cluster snapshot.Snapshot) {
	c.withheld.Follow(cluster, c.templateSeen+fmt.Sprint(c.databases), time.Now())
}

// try runs the trials of objects that wait in quarantine, one after another. It stops
// when its budget is spent, or when a sync is due that the rate limit allows: an
// endpoint waits for one trial at most. settled says that there was a verdict; the
// error says that nginx refuses the configuration no matter what is left out.
func (c *controller) try(ctx context.Context, cluster snapshot.Snapshot, change uint64) (settled bool, err error) {
	for ctx.Err() == nil && !time.Now().Before(c.withheld.later) {
		trial, any := c.withheld.Next(cluster, time.Now())
		if !any {
			break
		}
		words, refused := c.withheld.IsKnown(trial)
		if !refused {
			if c.withheld.budget.Wait(time.Now()) > 0 {
				break
			}
			if words, refused, err = c.ask(ctx, trial); err != nil {
				c.Log.Warn("a quarantine test could not be run", "error", err.Error())
				c.withheld.later = time.Now().Add(trialRetry)
				return settled, nil
			}
		}
		if !refused {
			c.withheld.Takes(trial)
			settled = settled || trial.IsOfSomething()
		} else {
			verdict, hopeless := c.withheld.Refuses(trial, words, time.Now())
			if hopeless {
				return settled, errors.New("nginx refuses the configuration no matter which ingress or key is left out: " + words)
			}
			if verdict != nil {
				settled = true
				c.tellVerdict(cluster, *verdict)
			}
		}
		if c.store.Changes().Newest() != change && c.limit.Tokens() >= 1 {
			break
		}
	}
	return settled, nil
}

// ask runs nginx -t on the cluster of a trial.
func (c *controller) ask(ctx context.Context, trial quarantine.Trial) (words string, refused bool, err error) {
	began := time.Now()
	err = c.tryInput(ctx, trial.Cluster, *c.input.Load())
	c.withheld.budget.Spend(time.Now(), time.Since(began))
	var refusal *apply.Refusal
	if errors.As(err, &refusal) {
		return refusal.Unwrap().Error(), true, nil
	}
	return "", false, err
}

func (c *controller) tellVerdict(cluster snapshot.Snapshot, verdict quarantine.Verdict) {
	switch config := cluster.ConfigMaps[c.ConfigMap]; {
	case !verdict.News:
	case verdict.Ingress != nil:
		c.events.Event(verdict.Ingress, corev1.EventTypeWarning, "Refused", verdict.Reason)
	case config != nil:
		c.events.Event(config, corev1.EventTypeWarning, "Refused", verdict.Reason)
	}
}

// tryAgain schedules a sync for the time of the next trial.
func (c *controller) tryAgain() {
	if c.withheld.again != nil {
		c.withheld.again.Stop()
		c.withheld.again = nil
	}
	now := time.Now()
	if wait, any := c.withheld.Wait(now); any {
		wait = max(wait, c.withheld.budget.Wait(now), c.withheld.later.Sub(now))
		c.withheld.again = time.AfterFunc(wait, func() { c.queue.Force("quarantine") })
	}
}
