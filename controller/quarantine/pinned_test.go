package quarantine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/snapshot"
)

// twenty returns the ingresses i00 to i19.
func twenty() (all []*networkingv1.Ingress) {
	for i := range 20 {
		all = append(all, asking(fmt.Sprintf("i%02d", i), ""))
	}
	return all
}

// searching returns a run in a search among 20 ingresses that nginx accepted before: at its start,
// or after it has found i03.
func searching(t *testing.T, found bool) (*run, []*networkingv1.Ingress) {
	r := newRun(t)
	all := twenty()
	r.sync(clusterOf(all...), 9)
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		for _, ingress := range cluster.Ingresses {
			if _, closed := cluster.Closed[ingress]; !closed && ingress.Name == "i03" && len(ingress.Annotations) == 0 {
				return "its Secret is bad"
			}
		}
		return ""
	}
	r.sync(clusterOf(all...), 1)
	for range 20 {
		if found && len(r.cases) == 0 {
			r.sync(clusterOf(all...), 1)
		}
	}
	if len(r.wide) == 0 || (len(r.cases) > 0) != found {
		t.Fatalf("%d ingresses in quarantine, %d suspects", len(r.cases), len(r.wide))
	}
	return r, all
}

// An ingress that is deleted during a search has no effect on the verdicts about the others, and does
// not stay in quarantine.
func TestDeletionDuringASearch(t *testing.T) {
	for _, found := range []bool{false, true} {
		t.Run(fmt.Sprintf("found %t", found), func(t *testing.T) {
			r, all := searching(t, found)
			rest := append(all[:3:3], all[4:]...)
			for range 60 {
				r.sync(clusterOf(rest...), 1)
			}
			if got := r.names(); strings.Count(got, "i") != 19 || r.Frozen() != nil {
				t.Errorf("served %q, frozen: %v", got, r.Frozen())
			}
			if wait, any := r.Wait(r.now); any || r.Holds() {
				t.Errorf("there is a trial to wait for, in %v, or an ingress in quarantine: %v", wait, r.cases)
			}
		})
	}
}

// A verdict about a version does not apply to one that corrects it during the search.
func TestCorrectionDuringASearch(t *testing.T) {
	r, all := searching(t, true)
	all[3] = asking("i03", "proxy-body-size: 1m")
	for range 40 {
		r.now = r.now.Add(time.Second)
		r.sync(clusterOf(all...), 1)
	}
	if got := r.names(); strings.Count(got, "i") != 20 || r.Holds() {
		t.Errorf("served %q, in quarantine: %v", got, r.cases)
	}
}

// A version that nginx rejected for a while is good again when nginx accepts it.
func TestRecoveryDuringASearch(t *testing.T) {
	r, all := searching(t, true)
	r.nginx.broken = nil
	r.now = r.now.Add(2 * time.Minute)
	for range 30 {
		r.sync(clusterOf(all...), 1)
	}
	if got := r.names(); strings.Count(got, "i") != 20 || r.Holds() {
		t.Fatalf("served %q, in quarantine: %v", got, r.cases)
	}
	good := all[3]
	all[3] = asking("i03", "proxy-body-size: bad")
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		for _, ingress := range cluster.Ingresses {
			if _, closed := cluster.Closed[ingress]; !closed && ingress.Annotations[prefix+"proxy-body-size"] == "bad" {
				return "bad size"
			}
		}
		return ""
	}
	r.sync(clusterOf(all...), 99)
	for _, ingress := range r.served.Ingresses {
		if ingress.Name == "i03" && ingress != good {
			t.Errorf("instead of the bad version, not the last good one is served: %v, closed: %v", ingress, r.served.Closed[ingress])
		}
	}
}
