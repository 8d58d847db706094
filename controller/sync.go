package controller

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/observe"
	"windtunnel.dev/controller/snapshot"
)

// view is the cluster as one sync sees it.
type view struct {
	change   uint64            // number of the newest change in cluster; see watch.Ring
	cluster  snapshot.Snapshot // with complete certificate chains
	findings []model.Finding   // about those chains
}

// sync brings nginx to the current state of the cluster.
func (c *controller) sync(ctx context.Context) error {
	if c.limit.Wait(ctx) != nil {
		return nil //nolint:nilerr // a shutdown is not a failure of the sync
	}
	c.reloads.begin()
	now := c.look(ctx)
	c.readFiles(ctx, now.cluster)
	c.quarantine.Follow(now.cluster, c.settings(), time.Now())
	err := c.serve(ctx, now)
	if changed, found := c.search(ctx, now, err); changed {
		err = c.serve(ctx, now)
	} else {
		err = found
	}
	c.scheduleSearch()
	if err == nil {
		c.first.Do(func() { go c.becomeReady(ctx) })
	}
	return err
}

// look takes a snapshot of the cluster and completes its certificate chains.
func (c *controller) look(ctx context.Context) view {
	v := view{change: c.store.Changes().Newest(), cluster: c.store.Snapshot()}
	if c.chains != nil {
		names := certificateNames(v.cluster, c.Options.DefaultSSLCertificate)
		v.cluster, v.findings = c.chains.Complete(ctx, v.cluster, names, time.Now())
	}
	return v
}

// certificateNames returns the names of Secrets that hold certificates of hosts.
func certificateNames(cluster snapshot.Snapshot, fallback types.NamespacedName) []types.NamespacedName {
	names := []types.NamespacedName{fallback}
	for _, ingress := range cluster.Ingresses {
		for _, tls := range ingress.Spec.TLS {
			names = append(names, types.NamespacedName{Namespace: ingress.Namespace, Name: tls.SecretName})
		}
	}
	return names
}

// serve brings nginx to the state of a cluster, except for objects in quarantine. It runs the
// stages quarantine, compile, diff, apply and observe.
func (c *controller) serve(ctx context.Context, v view) error {
	served, quarantined := c.quarantine.Serve(v.cluster)
	done := observe.Sync{Began: time.Now(), Change: v.change, Partial: c.quarantine.Holds()}
	built := c.compiler.Build(served, c.input.now())
	c.reads.follow(built.Model, served, c.store, len(quarantined) > 0)
	c.observer.Findings(served, quarantined, slices.Concat(v.findings, built.Findings))
	c.perform(ctx, built, &done)
	c.observer.Sync(done)
	if done.Err != nil || done.Held {
		return done.Err
	}
	c.quarantine.Accepted(served)
	c.observer.Serves(built.Model)
	return nil
}

// perform encodes the built configuration and brings nginx to it.
func (c *controller) perform(ctx context.Context, built compile.Built, done *observe.Sync) {
	began := time.Now()
	next, err := c.compiler.Encode(built)
	rendered := time.Since(began)
	if err == nil {
		c.observer.WillServe(built.Model)
		done.Steps, done.Held = c.diff(next, built.Input.Options)
		done.Report, err = c.apply(ctx, done.Steps, next)
	}
	done.Err, done.Report.Phases.Render = err, rendered
	done.Ended = ctx.Err() != nil
	done.Running = c.target.Running().Conf
	c.observer.Posted(done.Report.Posts)
}
