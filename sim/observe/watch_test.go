package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/follow"
	"windtunnel.dev/sim/observe/notice"
)

// When an observation ends, the events that have already arrived are part of it.
func TestBufferedEventsAreObserved(t *testing.T) {
	const buffered = 50
	events, outages := make(chan follow.Event, buffered), make(chan error, 1)
	for n := range buffered {
		events <- follow.Event{At: time.Now(), Object: slice(fmt.Sprintf("10.0.0.%d", n+1))}
	}
	outages <- errors.New("gone")
	start := time.Now()
	ob := &observation{
		log: event.NewLog(io.Discard, start), ledger: notice.NewLedger("", nil), cluster: &follow.Follower{Events: events, Outages: outages},
	}
	ob.ledger.Add(routed(), false, start)
	ob.ledger.Begin()
	changes, troubles := 0, 0
	ob.log.Tap(func(e event.Event) {
		switch {
		case e.Change != nil:
			changes++
		case e.Trouble != nil:
			troubles++
		}
	})
	ended, end := context.WithCancel(t.Context())
	end()
	if err := ob.watch(ended, nil); err != nil {
		t.Fatal(err)
	}
	if changes != buffered || troubles != 1 {
		t.Errorf("%d of %d changes and %d of 1 outages are observed", changes, buffered, troubles)
	}
}

// routed is an ingress that routes to the service web.
func routed() *networkingv1.Ingress {
	backend := &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"},
		Spec:       networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{Service: backend}},
	}
}

// slice is an EndpointSlice of the service web with one pod.
func slice(address string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{address}}},
	}
}
