package quarantine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

var configMap = types.NamespacedName{Namespace: "demo", Name: "config"}

// fakeNginx rejects an ingress with the text poison, and two ingresses with the same clash.
type fakeNginx struct {
	trials int
	broken func(snapshot.Snapshot) string // returns further rejections; may be nil
}

const prefix = "nginx.ingress.kubernetes.io/"

func (n *fakeNginx) rejects(cluster snapshot.Snapshot) string {
	clashes := make(map[string]bool)
	for _, ingress := range cluster.Ingresses {
		if closure, closed := cluster.Closed[ingress]; closed && closure.Routes == nil {
			continue
		}
		if ingress.Annotations[prefix+"poison"] != "" {
			return "poison"
		}
		if clash := ingress.Annotations[prefix+"clash"]; clash != "" && clashes[clash] {
			return "clash"
		} else if clash != "" {
			clashes[clash] = true
		}
	}
	if strings.Contains(dataOf(cluster, configMap)["http-snippet"], "poison") {
		return "poisoned key"
	}
	if n.broken != nil {
		return n.broken(cluster)
	}
	return ""
}

// run is a controller with a fake nginx.
type run struct {
	*testing.T
	Quarantine
	nginx  fakeNginx
	now    time.Time
	served snapshot.Snapshot
}

func newRun(t *testing.T) *run {
	r := &run{T: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	r.ConfigMap = configMap
	return r
}

func (r *run) bring(cluster snapshot.Snapshot) (rejected string) {
	served, _ := r.Serve(cluster)
	if r.Frozen() != nil {
		return ""
	}
	if words := r.nginx.rejects(served); words != "" {
		return words
	}
	r.Accepted(served)
	r.served = served
	return ""
}

// sync performs one sync of the controller, followed by a search with a limited number of trials.
func (r *run) sync(cluster snapshot.Snapshot, trials int) (hopeless bool) {
	r.Helper()
	r.Follow(cluster, "", r.now)
	if words := r.bring(cluster); words != "" {
		r.Suspect(cluster, words)
	}
	if trials > 0 {
		_, err := r.Bisect(r.Context(), cluster, Tester{
			Clock: func() time.Time { return r.now },
			Test: func(_ context.Context, cluster snapshot.Snapshot) (words string, rejected bool, err error) {
				trials--
				r.nginx.trials++
				r.budget = budget{} // full
				words = r.nginx.rejects(cluster)
				return words, words != "", nil
			},
			Report: func(Verdict) {},
			Yield:  func() bool { return trials <= 0 },
		})
		if err != nil {
			return true
		}
	}
	if words := r.bring(cluster); words != "" && trials > 0 {
		r.Fatalf("nginx rejects what is served in the end: %s", words)
	}
	return false
}

// names returns the names of the ingresses that are served as wanted.
func (r *run) names() string {
	var names []string
	for _, ingress := range r.served.Ingresses {
		if _, closed := r.served.Closed[ingress]; !closed {
			names = append(names, ingress.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func clusterOf(ingresses ...*networkingv1.Ingress) snapshot.Snapshot {
	return snapshot.Snapshot{Ingresses: snapshot.OldestFirst(ingresses), ConfigMaps: map[types.NamespacedName]*corev1.ConfigMap{configMap: {}}}
}

func TestRefusedObjectsAreFound(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		r := newRun(t)
		var all []*networkingv1.Ingress
		poisoned, n := make(map[string]bool), 1+random.IntN(40)
		taken := random.IntN(n + 1) // nginx has accepted the first ones
		for i := range n {
			name, text := fmt.Sprintf("i%02d", i), ""
			if i >= taken && random.IntN(4) == 0 {
				text, poisoned[name] = "poison: x", true
			}
			all = append(all, asking(name, text))
		}
		r.sync(clusterOf(all[:taken]...), 0)
		before := r.nginx.trials
		for range 200 { // the search continues across syncs
			r.now = r.now.Add(time.Second)
			r.sync(clusterOf(all...), 1+random.IntN(5))
			if r.Frozen() == nil && len(r.waiting(clusterOf(all...), r.now.Add(time.Hour))) == 0 {
				break
			}
		}
		var want []string
		for _, ingress := range all {
			if !poisoned[ingress.Name] {
				want = append(want, ingress.Name)
			}
		}
		if got := r.names(); got != strings.Join(want, " ") {
			t.Fatalf("seed %d: served %q, want %q", seed, got, want)
		}
		if most := 4 + 12*(1+len(poisoned)); r.nginx.trials-before > most {
			t.Errorf("seed %d: %d trials for %d rejected objects of %d, want at most %d", seed, r.nginx.trials-before, len(poisoned), n, most)
		}
	}
}

// If two ingresses clash, the later one is closed. It is tested again when the other one is
// deleted.
func TestClashEndsWithTheOtherIngress(t *testing.T) {
	r := newRun(t)
	older, later := asking("z", "clash: x"), asking("a", "clash: x| auth-url: http://a")
	r.sync(clusterOf(older), 9)
	r.sync(clusterOf(older, later), 9)
	if got := r.names(); got != "z" {
		t.Errorf("served %q, want z", got)
	}
	trials := r.nginx.trials
	for range 10 { // nothing changes
		r.sync(clusterOf(older, later), 9)
	}
	if r.nginx.trials != trials {
		t.Errorf("%d trials without a change", r.nginx.trials-trials)
	}
	r.now = r.now.Add(2 * time.Second)
	r.sync(clusterOf(later), 9)
	if got := r.names(); got != "a" {
		t.Errorf("served %q, want a", got)
	}
}

// An unchanged rejected ingress causes no trials.
func TestUnchangedObjectsCauseNoTrials(t *testing.T) {
	r := newRun(t)
	good := asking("good", "")
	r.sync(clusterOf(good), 9)
	var bad []*networkingv1.Ingress
	for i := range 30 {
		bad = append(bad, asking(fmt.Sprint("bad", i), "poison: x"))
	}
	r.sync(clusterOf(append(bad, good)...), 1000)
	trials := r.nginx.trials
	for touch := range 20 {
		r.now = r.now.Add(500 * time.Millisecond)
		for i := range bad {
			bad[i] = bad[i].DeepCopy()
			bad[i].ResourceVersion = fmt.Sprint(touch)
			bad[i].Labels = map[string]string{"touched": fmt.Sprint(touch)}
			bad[i].Annotations["example.com/touched"] = fmt.Sprint(touch)
			bad[i].Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: fmt.Sprint("192.0.2.", touch)}}
		}
		r.sync(clusterOf(append(bad, good)...), 1000)
	}
	if r.nginx.trials != trials {
		t.Errorf("%d trials for touches", r.nginx.trials-trials)
	}

	// New versions that are also invalid are tested at growing intervals.
	for touch := range 120 { // two minutes
		r.now = r.now.Add(time.Second)
		for i := range bad {
			bad[i] = bad[i].DeepCopy()
			bad[i].Annotations[prefix+"poison"] = fmt.Sprint("y", touch)
		}
		r.sync(clusterOf(append(bad, good)...), 1000)
	}
	if got := r.nginx.trials - trials; got > 30*12 {
		t.Errorf("%d trials for 120 new versions of 30 bad ingresses", got)
	}
	// A corrected version is eventually served, regardless of the others.
	r.now = r.now.Add(10 * time.Minute)
	bad[7] = asking("bad7", "")
	r.sync(clusterOf(append(bad, good)...), 1000)
	if got := r.names(); got != "bad7 good" {
		t.Errorf("served %q", got)
	}
}

// If nginx rejects objects that it accepted before, no reload is done until those at fault are
// found and closed.
func TestAcceptedObjectsBecomeInvalid(t *testing.T) {
	r := newRun(t)
	all := twenty()
	r.sync(clusterOf(all...), 9)
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		for _, ingress := range cluster.Ingresses {
			if _, closed := cluster.Closed[ingress]; !closed && ingress.Name == "i07" {
				return "its Secret is bad"
			}
		}
		return ""
	}
	r.sync(clusterOf(all...), 3)
	if r.Frozen() == nil {
		t.Error("not frozen while all are suspects")
	}
	for range 20 {
		r.sync(clusterOf(all...), 3)
	}
	if got := r.names(); r.Frozen() != nil || strings.Contains(got, "i07") || strings.Count(got, "i") != 19 {
		t.Errorf("served %q, frozen: %v", got, r.Frozen())
	}
	if len(r.served.Closed) != 1 {
		t.Errorf("closed: %v", r.served.Closed)
	}
	r.nginx.broken = nil // fixed, but nothing in the cluster changes
	r.now = r.now.Add(2 * time.Minute)
	r.sync(clusterOf(all...), 9)
	if got := r.names(); !strings.Contains(got, "i07") {
		t.Errorf("served %q", got)
	}
	r.nginx.broken = func(snapshot.Snapshot) string { return "nothing works" }
	all[0] = asking("i00", "proxy-body-size: 1m")
	if !r.sync(clusterOf(all...), 99) || r.Frozen() != nil {
		t.Error("no object is at fault, but there is no *Hopeless")
	}
}

// If nginx rejects even the 503 at an ingress's paths, only that ingress is left out.
func TestAPathThatCannotBeClosed(t *testing.T) {
	r := newRun(t)
	owner, squatter := asking("owner", ""), asking("squatter", "auth-url: http://a", "/taken")
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		if slices.ContainsFunc(cluster.Ingresses, func(i *networkingv1.Ingress) bool { return i.Name == "squatter" }) {
			return "duplicate location"
		}
		return ""
	}
	r.sync(clusterOf(owner), 9)
	r.sync(clusterOf(owner, squatter), 1)
	if r.Frozen() == nil {
		t.Error("not frozen although the replacement is untested")
	}
	r.sync(clusterOf(owner, squatter), 9)
	settled := func() {
		t.Helper()
		if got := r.names(); got != "owner" || r.Frozen() != nil || len(r.served.Closed) > 0 {
			t.Errorf("served %q, closed %v, frozen: %v", got, r.served.Closed, r.Frozen())
		}
	}
	settled()
	for i := range 20 { // it changes too soon for another trial
		trials := r.nginx.trials
		squatter = asking("squatter", fmt.Sprint("auth-url: http://", i), "/taken")
		r.sync(clusterOf(owner, squatter), 9)
		settled()
		if r.nginx.trials-trials > 4 {
			t.Errorf("%d trials for a new version", r.nginx.trials-trials)
		}
	}
}

// The error names the same one of several untested replacements each time, so there is only one
// Event.
func TestFrozenNamesTheSameReplacementEachTime(t *testing.T) {
	r := newRun(t)
	var all []*networkingv1.Ingress
	for i := range 9 {
		all = append(all, asking(fmt.Sprint("i", i), "auth-url: http://a"))
	}
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		if len(cluster.Ingresses) > 0 {
			return "duplicate location"
		}
		return ""
	}
	r.sync(clusterOf(all...), 1)
	for range 20 {
		if err := r.Frozen(); err == nil || err.Error() != "the replacement of demo/i0 has not been tested yet" {
			t.Fatalf("got %v, want the first by name", err)
		}
	}
}

func TestKeys(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		frozen        bool
		want          string
	}{
		"a value that restricts nobody": {"add_header A b;", "add_header A poison;", false, "add_header A b;"},
		"a value that restricts access": {"add_header A b;", "deny poison;", true, ""},
		"the same rules":                {"deny all;", "deny all; etag poison;", false, "deny all;"},
		"an unknown directive":          {"", "poison on;", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t)
			with := func(value string, ingresses ...*networkingv1.Ingress) snapshot.Snapshot {
				cluster := clusterOf(ingresses...)
				cluster.ConfigMaps[configMap] = &corev1.ConfigMap{Data: map[string]string{"http-snippet": value, "allow-snippet-annotations": "true"}}
				return cluster
			}
			r.sync(with(test.before, asking("a", "")), 9)
			r.sync(with(test.after, asking("a", ""), asking("b", "")), 9)
			if frozen := r.Frozen() != nil; frozen != test.frozen {
				t.Errorf("frozen: %v", r.Frozen())
			}
			if !test.frozen {
				if got := dataOf(r.served, configMap)["http-snippet"]; got != test.want || r.names() != "a b" {
					t.Errorf("http-snippet %q with %q, want %q", got, r.names(), test.want)
				}
			}
			r.now = r.now.Add(time.Minute)
			r.sync(with("etag off;", asking("a", ""), asking("b", "")), 9)
			if got := dataOf(r.served, configMap)["http-snippet"]; r.Frozen() != nil || got != "etag off;" || r.names() != "a b" {
				t.Errorf("corrected: %q with %q, frozen: %v", got, r.names(), r.Frozen())
			}
		})
	}
}

// A key that nginx accepted before and rejects now does not count as accepted when another object
// changes.
func TestAcceptedKeyBecomesInvalid(t *testing.T) {
	r := newRun(t)
	var all []*networkingv1.Ingress
	for i := range 30 {
		all = append(all, asking(fmt.Sprint("i", i), ""))
	}
	cluster := func() snapshot.Snapshot {
		cluster := clusterOf(all...)
		cluster.ConfigMaps[configMap] = &corev1.ConfigMap{Data: map[string]string{"http-snippet": "include gone;"}}
		return cluster
	}
	r.sync(cluster(), 9)
	r.nginx.broken = func(cluster snapshot.Snapshot) string {
		if dataOf(cluster, configMap)["http-snippet"] != "" {
			return "no such file"
		}
		return ""
	}
	all[0] = asking("i0", "proxy-body-size: 1m")
	r.sync(cluster(), 99)
	if r.Frozen() == nil {
		t.Fatal("not frozen although the key has no safe replacement")
	}
	for i := range 5 {
		r.now = r.now.Add(time.Hour)
		all[0] = asking("i0", fmt.Sprintf("proxy-body-size: %dm", 2+i))
		trials := r.nginx.trials
		r.sync(cluster(), 99)
		if n := r.nginx.trials - trials; n > 1 || r.Frozen() == nil {
			t.Errorf("%d trials after a change of an ingress, want one of the key; frozen: %v", n, r.Frozen())
		}
	}
}

func TestBudget(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := new(budget)
	for range 60 {
		if wait := b.wait(now); wait > 0 {
			t.Fatalf("wait %v with a full stock", wait)
		}
		b.spend(now, time.Millisecond)
	}
	if wait := b.wait(now); wait < 500*time.Millisecond || wait > 2*time.Second {
		t.Errorf("wait %v after a minute's worth of trials, want about a second", wait)
	}
	b = new(budget)
	b.spend(now, 90*time.Second) // a trial of a very large configuration
	if wait := b.wait(now); wait < 100*time.Second || wait > 140*time.Second {
		t.Errorf("wait %v after a trial of 90 s, want two minutes", wait)
	}
}
