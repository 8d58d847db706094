package record

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/follow"
)

// slice is an EndpointSlice of a service with one pod.
func slice(address string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{address}}},
	}
}

// When a recording ends, the events that have already arrived are part of it.
func TestBufferedEventsAreRecorded(t *testing.T) {
	const buffered = 50
	events, outages := make(chan follow.Event, buffered), make(chan error, 1)
	for n := range buffered {
		events <- follow.Event{Object: slice(fmt.Sprintf("10.0.0.%d", n+1))}
	}
	outages <- errors.New("gone")
	namer, err := newNamer(false)
	if err != nil {
		t.Fatal(err)
	}
	r := newRecorder(namer)
	r.startRecording()
	ended, end := context.WithCancel(t.Context())
	end()
	told := 0
	r.follow(ended, &follow.Follower{Events: events, Outages: outages}, time.Now(), Options{Changed: func(n int) { told = n }, Outage: func(error) {}})
	if len(r.changes) != buffered || told != buffered {
		t.Errorf("%d of %d changes are recorded, and %d were reported", len(r.changes), buffered, told)
	}
	if len(r.omitted) != 1 {
		t.Errorf("omitted: %v, want the outage", r.omitted)
	}
}
