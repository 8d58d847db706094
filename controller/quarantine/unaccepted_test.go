package quarantine

import (
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/snapshot"
)

// rejecting returns the cluster with a version of an ingress that is not accepted.
func rejecting(cluster snapshot.Snapshot, ingress *networkingv1.Ingress) snapshot.Snapshot {
	cluster.Rejected = []snapshot.Rejection{{Ingress: ingress, Reason: "a bad annotation"}}
	return cluster
}

// If nginx rejects even the 503 of a version that is not accepted, only that ingress is left out.
func TestAnUnacceptedVersionThatCannotBeClosed(t *testing.T) {
	r := newRun(t)
	owner, squatter := asking("owner", ""), asking("squatter", "auth-url: http://a", "/taken")
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		names := func(name string) func(*networkingv1.Ingress) bool {
			return func(i *networkingv1.Ingress) bool {
				_, closed := cluster.Closed[i]
				return i.Name == name && (name != "owner" || !closed)
			}
		}
		if slices.ContainsFunc(cluster.Ingresses, names("owner")) && slices.ContainsFunc(cluster.Ingresses, names("squatter")) {
			return "duplicate location"
		}
		return ""
	}
	r.sync(clusterOf(owner), 9)
	for range 3 {
		if r.sync(rejecting(clusterOf(owner), squatter), 99) {
			t.Error("the search is hopeless")
		}
	}
	_, findings := r.Serve(rejecting(clusterOf(owner), squatter))
	if got := r.names(); got != "owner" || len(r.served.Closed) > 0 {
		t.Errorf("served %q, closed %v", got, r.served.Closed)
	}
	if len(findings) != 1 || !strings.Contains(findings[0].Reason, "a bad annotation; nginx rejects it (duplicate location); it is left out") {
		t.Errorf("findings %v", findings)
	}

	r.now = r.now.Add(time.Minute) // the owner's location is gone
	owner = asking("owner", "proxy-body-size: 1m")
	r.nginx.broken = nil
	r.sync(rejecting(clusterOf(owner), squatter), 99)
	if got := r.names(); got != "owner" || len(r.served.Closed) != 1 {
		t.Errorf("after the conflict: served %q, closed %v", got, r.served.Closed)
	}
}

// An earlier version that nginx has not accepted is not served in place of one that is not accepted.
func TestAnUnacceptedVersionAfterOneThatNginxRejects(t *testing.T) {
	r := newRun(t)
	other := asking("other", "")
	r.sync(clusterOf(other), 9)
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		for _, ingress := range cluster.Ingresses {
			if _, closed := cluster.Closed[ingress]; !closed && ingress.Annotations[prefix+"proxy-body-size"] == "x" {
				return "invalid size"
			}
		}
		return ""
	}
	poison, wanted := asking("a", "proxy-body-size: x"), asking("a", "proxy-body-size: y")
	other = asking("other", "proxy-body-size: 1m")
	if r.sync(rejecting(clusterOf(other, poison), wanted), 99) {
		t.Error("the search is hopeless")
	}
	if !slices.Contains(r.served.Ingresses, other) || len(r.served.Closed) != 1 {
		t.Errorf("served %q, closed %v", r.names(), r.served.Closed)
	}
}

// The earlier version that is served in place of one that is not accepted can become invalid.
func TestTheEarlierVersionOfAnUnacceptedOneBecomesInvalid(t *testing.T) {
	r := newRun(t)
	other, earlier, wanted := asking("other", ""), asking("a", ""), asking("a", "proxy-body-size: bad", "/", "/new")
	r.sync(clusterOf(other, earlier), 9)
	r.sync(rejecting(clusterOf(other, earlier), wanted), 9)
	if got := r.names(); got != "other" || len(r.served.Closed) != 1 || r.served.Closed[r.served.Ingresses[0]].Routes == nil && r.served.Closed[r.served.Ingresses[1]].Routes == nil {
		t.Fatalf("served %q, closed %v", got, r.served.Closed)
	}
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		for _, ingress := range cluster.Ingresses {
			if closure, closed := cluster.Closed[ingress]; ingress.Name == "a" && (!closed || closure.Routes != nil) {
				return "its Secret is bad"
			}
		}
		return ""
	}
	for range 9 {
		r.now = r.now.Add(time.Minute)
		other = asking("other", "proxy-body-size: "+r.now.String())
		if r.sync(rejecting(clusterOf(other, earlier), wanted), 99) {
			t.Error("the search is hopeless")
		}
	}
	if !slices.Contains(r.served.Ingresses, other) || len(r.served.Closed) != 1 {
		t.Errorf("served %q, closed %v", r.names(), r.served.Closed)
	}
}
