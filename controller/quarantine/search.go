package quarantine

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// suspect is an ingress or a key of the ConfigMap that nginx may reject.
type suspect struct {
	ingress types.NamespacedName
	key     string
}

// search is the state of the search for the objects at fault. It can be interrupted between any two
// trials without losing a verdict.
type search struct {
	base  bool // nginx accepts the cluster without the suspects
	batch int  // suspects per trial; 0 means all

	// known are the suspects that nginx rejected together; words is its message. Both are valid
	// until a suspect changes.
	known map[suspect]bool
	words string

	// wide is set if nginx rejects even objects that it accepted before. Then every object that is
	// not in quarantine is a suspect. They are tested in pinned, the cluster at that time, which is
	// served unchanged until the search ends.
	wide   map[suspect]bool
	pinned snapshot.Snapshot
}

// trial is one nginx -t of a cluster.
type trial struct {
	cluster     snapshot.Snapshot
	part        []suspect // the suspects under test; if empty, the rest of the cluster is tested
	replacement bool      // the replacement for part is tested
}

// Verdict reports that nginx rejects an ingress or a key.
type Verdict struct {
	Ingress *networkingv1.Ingress // nil if the verdict is about a key
	Reason  string                // human-readable: the problem and what is served instead
	news    bool                  // the reason differs from that of the previous verdict
}

// Suspect starts the search after nginx has rejected the cluster that Serve returned. The suspects
// are all objects that nginx has not accepted before. If there are none, the cause is a change of
// something that the objects refer to, and every object is a suspect. words is nginx's message.
func (q *Quarantine) Suspect(cluster snapshot.Snapshot, words string) {
	q.base, q.batch, q.words = false, 0, words
	q.known = make(map[suspect]bool)
	data := dataOf(cluster, q.ConfigMap)
	for _, key := range q.changedKeys(data) {
		value := valueOf(data, key)
		q.put(suspect{key: key}, &refusedKey{value: value, closed: q.closesKey(key, value)})
	}
	cluster, _ = q.accepted(cluster)
	for _, ingress := range cluster.Ingresses {
		name := snapshot.NameOf(ingress)
		if q.cases[name] == nil && !q.isProven(ingress) {
			q.put(suspect{ingress: name}, &refusedIngress{wanted: ingress, replacement: q.instead(ingress, cluster)})
		}
	}
	if len(q.known) == 0 && !q.strip() {
		q.suspectAll()
	}
}

// put adds an object to the quarantine, where it waits for its first trial.
func (q *Quarantine) put(s suspect, one any) {
	q.known[s] = true
	switch one := one.(type) {
	case *refusedIngress:
		if q.cases == nil {
			q.cases = make(map[types.NamespacedName]*refusedIngress)
		}
		q.cases[s.ingress] = one
	case *refusedKey:
		if q.keys == nil {
			q.keys = make(map[string]*refusedKey)
		}
		q.keys[s.key] = one
	}
}

// suspectAll also makes the objects that nginx accepted before suspects.
func (q *Quarantine) suspectAll() {
	q.base, q.batch, q.known = false, 0, nil
	q.wide = make(map[suspect]bool)
	q.pinned, _ = q.accepted(q.seen)
	data := dataOf(q.pinned, q.ConfigMap)
	for key := range data {
		if q.keys[key] == nil && !isGate(key) {
			q.wide[suspect{key: key}] = true
		}
	}
	for _, one := range q.cases {
		one.untested = true
	}
	for _, ingress := range q.pinned.Ingresses {
		if name := snapshot.NameOf(ingress); q.cases[name] == nil {
			q.wide[suspect{ingress: name}] = true
		}
	}
}

// next returns the next trial, or false if there is none now.
func (q *Quarantine) next(cluster snapshot.Snapshot, now time.Time) (trial, bool) {
	if len(q.wide) > 0 {
		cluster = q.pinned
	} else {
		cluster, _ = q.accepted(cluster)
	}
	unproven := q.unproven(now)
	if q.base && len(unproven) > 0 {
		one := unproven[0]
		rest := q.without(cluster, func(s suspect) bool { return q.wide[s] || q.isHeld(s) })
		rest.Ingresses, rest.Closed = one.replacement.addTo(slices.Clone(rest.Ingresses), maps.Clone(rest.Closed))
		rest.Ingresses = snapshot.OldestFirst(rest.Ingresses)
		return trial{cluster: rest, part: []suspect{{ingress: snapshot.NameOf(one.wanted)}}, replacement: true}, true
	}
	waiting := q.waiting(cluster, now)
	if len(waiting) == 0 && (q.base || len(unproven) == 0) {
		return trial{}, false
	}
	var part []suspect
	if q.base {
		part = waiting[:max(1, min(q.batch, len(waiting)))]
		if q.batch == 0 {
			part = waiting
		}
	}
	tried := make(map[suspect]bool, len(part))
	for _, s := range part {
		tried[s] = true
	}
	return trial{
		cluster: q.without(cluster, func(s suspect) bool { return (q.wide[s] || q.isHeld(s)) && !tried[s] }),
		part:    part,
	}, true
}

// strip removes the untested replacements of waiting objects from the cluster, because each needs
// its own trial. It reports whether there were any.
func (q *Quarantine) strip() bool {
	any := false
	for _, one := range q.cases {
		if !one.rejected && !one.untested && one.replacement.Ingress != nil {
			one.untested, any = true, true
		}
	}
	return any
}

// unproven returns the objects in quarantine that are not due for a trial but have an untested
// replacement, sorted by name.
func (q *Quarantine) unproven(now time.Time) []*refusedIngress {
	var all []*refusedIngress
	for _, one := range q.cases {
		if one.untested && (one.rejected || !one.due(now)) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b *refusedIngress) int {
		return strings.Compare(snapshot.NameOf(a.wanted).String(), snapshot.NameOf(b.wanted).String())
	})
	return all
}

// waiting returns the suspects that can be tested now, in order.
func (q *Quarantine) waiting(cluster snapshot.Snapshot, now time.Time) []suspect {
	if len(q.cases) == 0 && len(q.keys) == 0 && len(q.wide) == 0 {
		return nil // the common case: skip thousands of ingresses
	}
	order := make(map[suspect]int)
	var all []suspect
	add := func(s suspect) {
		if one := q.refusalsOf(s); one != nil && !one.rejected && one.due(now) || one == nil && q.wide[s] {
			order[s] = len(order)
			all = append(all, s)
		}
	}
	for _, key := range suspicious(keySeq(q.keysOf(cluster))) {
		add(suspect{key: key})
	}
	for _, ingress := range cluster.Ingresses {
		add(suspect{ingress: snapshot.NameOf(ingress)})
	}
	slices.SortFunc(all, byAge(order, func(s suspect) int {
		if one := q.refusalsOf(s); one != nil {
			return one.times
		}
		return 0
	}))
	return all
}

func (q *Quarantine) refusalsOf(s suspect) *rejections {
	if s.key != "" {
		if one := q.keys[s.key]; one != nil {
			return &one.rejections
		}
	} else if one := q.cases[s.ingress]; one != nil {
		return &one.rejections
	}
	return nil
}

// isKnown reports whether the result of a trial is already known because nginx rejected the same
// suspects before. It returns nginx's message for them.
func (q *Quarantine) isKnown(trial trial) (words string, known bool) {
	if trial.replacement || len(trial.part) == 0 || len(trial.part) != len(q.known) {
		return "", false
	}
	for _, s := range trial.part {
		if !q.known[s] {
			return "", false
		}
	}
	return q.words, true
}

// accept records that nginx accepts the cluster of a trial.
func (q *Quarantine) accept(trial trial) {
	if len(trial.part) == 0 {
		q.base = true
		return
	}
	if trial.replacement {
		q.cases[trial.part[0].ingress].untested = false
		return
	}
	for _, s := range trial.part {
		delete(q.wide, s)
		if s.key != "" {
			delete(q.keys, s.key)
		} else {
			delete(q.cases, s.ingress)
		}
	}
	q.batch = 2 * len(trial.part)
}

// reject records that nginx rejects the cluster of a trial, and why. hopeless means that no object
// is at fault: nginx rejects the cluster regardless of which objects are left out.
func (q *Quarantine) reject(trial trial, words string, now time.Time) (verdict *Verdict, hopeless bool) {
	switch {
	case trial.replacement:
		one := q.cases[trial.part[0].ingress]
		one.demote(q.Prefix)
		one.untested = one.replacement.Ingress != nil
		return &Verdict{Ingress: one.wanted, Reason: one.reasonToPeople(), news: one.isNews(one.reasonToPeople())}, false
	case len(trial.part) == 0 && len(q.wide) > 0:
		q.wide = nil
		for _, one := range q.cases {
			one.untested = false
		}
		return nil, true
	case len(trial.part) == 0 && q.strip():
		return nil, false
	case len(trial.part) == 0:
		q.suspectAll()
		return nil, len(q.wide) == 0
	case len(trial.part) > 1:
		q.batch = len(trial.part) / 2
		return nil, false
	}
	q.batch = 1
	return q.hold(trial.part[0], words, now), false
}

// hold keeps a suspect in quarantine until it changes, or an object that it may conflict with does.
func (q *Quarantine) hold(s suspect, words string, now time.Time) *Verdict {
	if s.key != "" {
		one := q.keys[s.key]
		if one == nil { // nginx accepted it before
			one = &refusedKey{value: valueOf(dataOf(q.pinned, q.ConfigMap), s.key), closed: true}
			q.acceptedData = maps.Clone(q.acceptedData) // it belongs to an object of the cluster
			delete(q.acceptedData, s.key)               // no longer good
			q.known = map[suspect]bool{}
			q.put(s, one)
		}
		one.pass(words, now)
		delete(q.wide, s)
		reason := s.key + ": " + one.reasonToPeople()
		return &Verdict{Reason: reason, news: one.isNews(reason)}
	}
	one := q.cases[s.ingress]
	if one == nil {
		i := slices.IndexFunc(q.pinned.Ingresses, func(ingress *networkingv1.Ingress) bool { return snapshot.NameOf(ingress) == s.ingress })
		ingress := q.pinned.Ingresses[i]
		if _, closed := q.pinned.Closed[ingress]; !closed {
			delete(q.good, s.ingress) // no longer good
			q.lost = true
		}
		one = &refusedIngress{wanted: ingress, replacement: q.instead(ingress, q.pinned), untested: true}
		q.known = map[suspect]bool{}
		q.put(s, one)
	}
	one.pass(words, now)
	one.around = ""
	if !q.behind {
		one.around = q.surroundings(one.wanted)
	}
	delete(q.wide, s)
	reason := one.reasonToPeople()
	return &Verdict{Ingress: one.wanted, Reason: reason, news: one.isNews(reason)}
}

// isNews reports whether a verdict differs from the previous one.
func (s *rejections) isNews(reason string) bool {
	news := s.told != reason
	s.told = reason
	return news
}

func (s *rejections) pass(words string, now time.Time) {
	s.rejected, s.reason, s.last = true, words, now
	s.times++
}

func keySeq(keys map[string]bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for key := range keys {
			if !yield(key) {
				return
			}
		}
	}
}

// suspicious returns the keys whose values nginx reads, sorted.
func suspicious(keys iter.Seq[string]) []string {
	all := slices.DeleteFunc(slices.Collect(keys), isGate)
	slices.Sort(all)
	return all
}

func isGate(key string) bool { return options.ProtectionOf(key) == options.Gate }
