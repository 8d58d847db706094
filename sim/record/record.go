// Package record records the changes of a live cluster: endpoints that come and go, and new hosts.
// A scenario can replay the recording. Its one rule: it only reads the cluster, and it counts the
// changes that a recording cannot express instead of dropping them silently.
package record

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/follow"
)

// Options set what is recorded, and under which names. The functions may be nil.
type Options struct {
	Namespaces []string                        // none means all
	Hash       bool                            // replace names of services and hosts with hashes that cannot be guessed
	Missing    func(namespace string)          // called for each of Namespaces that does not exist
	Began      func(services, pods, hosts int) // called once, with the counts of the initial state
	Changed    func(changes int)               // called after each change, with their number
	// Progress is called repeatedly, with the time since the beginning and the number of changes.
	Progress func(took time.Duration, changes int)
	Outage   func(why error) // called when the API server can no longer be read
}

// Record watches the cluster until ctx is done and returns the recording. It returns an error only
// if it could not read the initial state.
func Record(ctx context.Context, config *rest.Config, o Options) (churn.Recording, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "windtunnel-record")
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return churn.Recording{}, err
	}
	namer, err := newNamer(o.Hash)
	if err != nil {
		return churn.Recording{}, err
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	follower, err := follow.Start(following, config, o.Namespaces)
	if err != nil {
		return churn.Recording{}, fmt.Errorf("read the cluster: %w", err)
	}
	t := newRecorder(namer)
	if err := follower.ReadInitialState(following, func(e follow.Event) { t.add(e, 0) }); err != nil {
		return churn.Recording{}, fmt.Errorf("read the cluster: %w", err)
	}
	t.startRecording()
	if o.Missing != nil {
		for _, namespace := range follow.MissingNamespaces(following, client, o.Namespaces) {
			o.Missing(namespace)
		}
	}
	began := time.Now()
	if o.Began != nil {
		o.Began(t.counts())
	}
	t.follow(ctx, follower, began, o)
	return t.recording(time.Since(began)), nil
}
