// Package quarantine prevents a single object that nginx rejects from blocking all others. It
// stands between the cluster and the model. It replaces a rejected ingress with its last known good
// version or with 503, and a rejected key of the ConfigMap with its previous value. It finds the
// object at fault by bisection, one trial at a time; the caller runs nginx -t for each trial. Its
// one rule: it never serves a version that protects less than the wanted one.
package quarantine

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// Quarantine tracks the ingresses and keys that nginx rejects. It is not safe for concurrent use.
type Quarantine struct {
	Prefix    string               // prefix of annotations; empty means ingress-nginx's
	ConfigMap types.NamespacedName // the controller's own

	cases map[types.NamespacedName]*refusedIngress
	keys  map[string]*refusedKey

	good         map[types.NamespacedName]*networkingv1.Ingress // last known good, by name
	acceptedLast []*networkingv1.Ingress                        // the ingresses of the last call of Accepted
	lost         bool                                           // a version was removed from good since then

	ever         bool              // whether nginx has accepted any configuration yet
	acceptedData map[string]string // the ConfigMap's data in the last accepted configuration

	unaccepted   map[*networkingv1.Ingress]unaccepted // the replacements for a snapshot's Rejected
	replacements map[*networkingv1.Ingress]bool       // the set of these replacements

	seen     snapshot.Snapshot // the cluster in the last call of Follow
	settings string
	behind   bool       // the quarantine does not reflect seen and settings yet
	around   neighbours // the neighbours in seen

	search
	budget budget
	retry  time.Time // time of the next trial after one that could not run
}

// refusedIngress is an ingress in quarantine.
type refusedIngress struct {
	rejections
	wanted      *networkingv1.Ingress
	replacement Replacement
	around      string // its surroundings at the rejection
	untested    bool   // nginx has not tested its replacement, and may reject it as well
}

// demote chooses the next replacement: a 503 after the earlier version, then none, which leaves the
// ingress out.
func (one *refusedIngress) demote(prefix string) {
	switch closed := ReplacementOf(one.wanted, nil, prefix); {
	case one.replacement.Closure != nil && one.replacement.Closure.Routes == nil, closed.Ingress == nil:
		one.replacement = leftOut
	default:
		one.replacement = closed
	}
}

// leftOut replaces an ingress whose paths cannot be closed.
var leftOut = Replacement{Description: "it is left out, because nginx rejects even a 503 at its paths"}

// Follow compares the cluster with that of the last call. An object that changed, or whose
// surroundings changed since its rejection, waits for another trial. settings represents all other
// inputs of nginx.conf, such as the template.
func (q *Quarantine) Follow(cluster snapshot.Snapshot, settings string, now time.Time) {
	q.known = nil
	q.behind = q.behind || settings != q.settings || !sameStatic(q.seen, cluster)
	q.seen, q.settings = cluster, settings
	q.catchUp()
	for _, s := range q.allRejections() {
		if s.rejected && s.due(now) {
			s.rejected = false
		}
	}
}

// catchUp updates the quarantine if it is behind the cluster of the last call of Follow. It waits
// for a search in pinned, because the trials and verdicts of that search are about the versions in
// pinned.
func (q *Quarantine) catchUp() {
	if !q.behind || len(q.wide) > 0 {
		return
	}
	q.behind = false
	q.around = neighbours{before: q.around.digests}
	cluster, _ := q.accepted(q.seen)
	q.followIngresses(cluster)
	q.followKeys(q.seen)
}

func (q *Quarantine) followIngresses(cluster snapshot.Snapshot) {
	current := make(map[types.NamespacedName]*networkingv1.Ingress)
	for _, ingress := range cluster.Ingresses {
		current[snapshot.NameOf(ingress)] = ingress
	}
	for name, one := range q.cases {
		now := current[name]
		switch {
		case now == nil || now.UID != one.wanted.UID || q.isGood(now):
			delete(q.cases, name) // deleted, replaced, or back at the version that nginx accepted
		case !SameConfiguration(now, one.wanted, q.Prefix):
			one.wanted, one.rejected = now, false
			one.replacement, one.untested = ReplacementOf(now, q.goodVersion(now), q.Prefix), false
		case one.rejected && one.around != q.surroundings(now):
			one.rejected = false
		}
	}
}

func (q *Quarantine) followKeys(cluster snapshot.Snapshot) {
	data := dataOf(cluster, q.ConfigMap)
	for key, one := range q.keys {
		value := valueOf(data, key)
		switch {
		case q.ever && equal(value, valueOf(q.acceptedData, key)):
			delete(q.keys, key)
			continue
		case !q.ever && value == nil:
			delete(q.keys, key)
			continue
		case !equal(value, one.value):
			one.value = value
			one.closed = q.closesKey(key, value)
		}
		one.rejected = false // a file that it names, or an ingress that it conflicts with, may have changed
	}
}

// sameStatic reports whether two snapshots have the same objects except EndpointSlices.
func sameStatic(a, b snapshot.Snapshot) bool {
	return snapshot.SameIngresses(a.Ingresses, b.Ingresses) && sameObjects(a.ConfigMaps, b.ConfigMaps) &&
		sameObjects(a.Secrets, b.Secrets) && sameObjects(a.Services, b.Services)
}

// sameObjects compares two maps. It is fast if both are the same map; snapshots of a Ledger share
// the map if no object of that kind changed.
func sameObjects[T comparable](a, b map[types.NamespacedName]T) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() || maps.Equal(a, b)
}

// isGood reports whether nginx has accepted this version of an ingress.
func (q *Quarantine) isGood(ingress *networkingv1.Ingress) bool {
	good := q.goodVersion(ingress)
	return good != nil && SameConfiguration(good, ingress, q.Prefix) && !q.rejects(ingress)
}

// rejects reports whether this version of an ingress is in quarantine. nginx may have accepted it
// earlier, before its surroundings changed.
func (q *Quarantine) rejects(ingress *networkingv1.Ingress) bool {
	one := q.cases[snapshot.NameOf(ingress)]
	return one != nil && SameConfiguration(one.wanted, ingress, q.Prefix)
}

// goodVersion returns the last known good version of an ingress, or nil.
func (q *Quarantine) goodVersion(ingress *networkingv1.Ingress) *networkingv1.Ingress {
	good := q.good[snapshot.NameOf(ingress)]
	if good == nil || good.UID != ingress.UID {
		return nil
	}
	return good
}

// Serve returns the cluster with a replacement for each object that is in quarantine or not
// accepted, and one finding for each.
func (q *Quarantine) Serve(cluster snapshot.Snapshot) (snapshot.Snapshot, []model.Finding) {
	var findings []model.Finding
	for _, key := range slices.Sorted(maps.Keys(q.keys)) {
		findings = append(findings, q.keys[key].finding(q.ConfigMap, key))
	}
	cluster, ofRejected := q.accepted(cluster)
	findings = append(findings, ofRejected...)
	if len(q.cases) == 0 && len(q.keys) == 0 {
		return cluster, findings
	}
	for _, ingress := range cluster.Ingresses {
		if one := q.cases[snapshot.NameOf(ingress)]; one != nil && !q.replacements[ingress] {
			findings = append(findings, one.finding())
		}
	}
	return q.without(cluster, q.isHeld), findings
}

// Holds reports whether any object is in quarantine. Versions of ingresses that are not accepted do
// not count, because nginx has never seen them.
func (q *Quarantine) Holds() bool { return len(q.cases) > 0 || len(q.keys) > 0 }

// isHeld reports whether an object is in quarantine.
func (q *Quarantine) isHeld(s suspect) bool {
	if s.key != "" {
		return q.keys[s.key] != nil
	}
	return q.cases[s.ingress] != nil
}

func (one *refusedIngress) finding() model.Finding {
	return model.Finding{Object: "Ingress " + snapshot.NameOf(one.wanted).String(), Reason: one.reasonToPeople()}
}

func (one *refusedIngress) reasonToPeople() string {
	if !one.rejected {
		return fmt.Sprintf("it waits to be tested, because nginx rejected it or a change made at the same time; until then %s", one.replacement.Description)
	}
	return fmt.Sprintf("nginx rejects it (%s); %s until it, or an object that it may conflict with, changes", one.reason, one.replacement.Description)
}

func (s Replacement) addTo(ingresses []*networkingv1.Ingress, closed map[*networkingv1.Ingress]snapshot.Closure) ([]*networkingv1.Ingress, map[*networkingv1.Ingress]snapshot.Closure) {
	if s.Ingress == nil {
		return ingresses, closed
	}
	if s.Closure != nil {
		if closed == nil {
			closed = make(map[*networkingv1.Ingress]snapshot.Closure)
		}
		closed[s.Ingress] = *s.Closure
	}
	return append(ingresses, s.Ingress), closed
}

// without returns the cluster with a replacement for each object for which out returns true. The
// order of ingresses stays the same, because a replacement has the name and age of the object it
// replaces.
func (q *Quarantine) without(cluster snapshot.Snapshot, out func(suspect) bool) snapshot.Snapshot {
	var ingresses []*networkingv1.Ingress
	closed := maps.Clone(cluster.Closed)
	for _, ingress := range cluster.Ingresses {
		name := snapshot.NameOf(ingress)
		if !out(suspect{ingress: name}) {
			ingresses = append(ingresses, ingress)
			continue
		}
		delete(closed, ingress)
		ingresses, closed = q.replacementOf(ingress).addTo(ingresses, closed)
	}
	cluster.Ingresses, cluster.Closed = ingresses, closed
	instead := make(map[string]*string)
	for key := range q.keysOf(cluster) {
		if out(suspect{key: key}) {
			instead[key] = q.insteadOfKey(key)
		}
	}
	if len(instead) > 0 {
		cluster = withKeys(cluster, q.ConfigMap, instead)
	}
	return cluster
}

// replacementOf returns the replacement of an ingress.
func (q *Quarantine) replacementOf(ingress *networkingv1.Ingress) Replacement {
	if one := q.cases[snapshot.NameOf(ingress)]; one != nil && !one.untested {
		return one.replacement
	}
	return Replacement{} // the search has not reached it yet
}

// Accepted records that nginx accepted a cluster that Serve returned.
func (q *Quarantine) Accepted(served snapshot.Snapshot) {
	q.base, q.ever, q.acceptedData = true, true, dataOf(served, q.ConfigMap)
	if !q.lost && slices.Equal(q.acceptedLast, served.Ingresses) {
		return
	}
	q.lost, q.acceptedLast = false, served.Ingresses
	good := make(map[types.NamespacedName]*networkingv1.Ingress, len(served.Ingresses))
	for _, ingress := range served.Ingresses {
		name := snapshot.NameOf(ingress)
		if q.cases[name] != nil || q.replacements[ingress] {
			if before := q.good[name]; before != nil && before.UID == ingress.UID {
				good[name] = before
			}
			continue
		}
		good[name] = ingress
	}
	q.good = good
}

// Frozen returns an error while no reload is possible: nginx rejects a key that has no safe
// replacement, a replacement is untested, or everything is a suspect.
func (q *Quarantine) Frozen() error {
	for _, key := range slices.Sorted(maps.Keys(q.keys)) {
		if q.keys[key].closed {
			return fmt.Errorf("nginx rejects a key that nothing can replace: %v", q.keys[key].finding(q.ConfigMap, key))
		}
	}
	var untested []string
	for name, one := range q.cases {
		if one.untested {
			untested = append(untested, name.String())
		}
	}
	if len(untested) > 0 {
		return fmt.Errorf("the replacement of %s has not been tested yet", slices.Min(untested))
	}
	if len(q.wide) > 0 {
		return fmt.Errorf("nginx rejects a configuration that it accepted before; %d ingresses and keys have not been tested yet", len(q.wide))
	}
	return nil
}

// allRejections returns the rejections of all ingresses and keys, in any order.
func (q *Quarantine) allRejections() []*rejections {
	var all []*rejections
	for _, one := range q.cases {
		all = append(all, &one.rejections)
	}
	for _, one := range q.keys {
		all = append(all, &one.rejections)
	}
	return all
}

// waitForTrial returns the time until the next trial is due, or false if there is none until
// something changes.
func (q *Quarantine) waitForTrial(now time.Time) (time.Duration, bool) {
	if len(q.wide) > 0 || len(q.unproven(now)) > 0 {
		return 0, true
	}
	all := q.allRejections()
	if len(all) == 0 {
		return 0, false
	}
	soonest := slices.MinFunc(all, func(a, b *rejections) int { return a.when().Compare(b.when()) })
	return max(0, soonest.when().Sub(now)), true
}

// byAge compares suspects by the number of rejections, then by order. In order, keys come first,
// because snippets of ingresses can depend on them; ingresses follow, oldest first.
func byAge(order map[suspect]int, times func(suspect) int) func(a, b suspect) int {
	return func(a, b suspect) int {
		return cmp.Or(cmp.Compare(times(a), times(b)), cmp.Compare(order[a], order[b]))
	}
}
