package snapshot

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Ledger tracks a cluster object by object. The cost of a snapshot depends on what changed since
// the last one, and snapshots share everything else. A snapshot equals the result of Take for a
// Source with the same objects.
type Ledger struct {
	last       Snapshot
	ingresses  shelf[*networkingv1.Ingress]
	services   shelf[*corev1.Service]
	secrets    shelf[*corev1.Secret]
	configMaps shelf[*corev1.ConfigMap]

	slices  map[types.NamespacedName]*discoveryv1.EndpointSlice
	groups  map[types.NamespacedName]map[types.NamespacedName]*discoveryv1.EndpointSlice // by service, then by name
	touched map[types.NamespacedName]bool                                                // services whose group changed since the last snapshot
}

// moment identifies a snapshot of a Ledger, and lists the services whose slices differ from those
// in the previous snapshot.
type moment struct {
	ledger  *Ledger // nil if the snapshot is not from a Ledger
	number  int
	touched map[types.NamespacedName]bool
}

// shelf holds the objects of one kind.
type shelf[T metav1.Object] struct {
	objects map[types.NamespacedName]T
	changed bool // since the last snapshot
}

// NewLedger returns an empty Ledger.
func NewLedger() *Ledger {
	return &Ledger{
		slices:  make(map[types.NamespacedName]*discoveryv1.EndpointSlice),
		groups:  make(map[types.NamespacedName]map[types.NamespacedName]*discoveryv1.EndpointSlice),
		touched: make(map[types.NamespacedName]bool),
	}
}

// Put adds an object or replaces its earlier version. Objects of kinds that a snapshot does not
// contain are ignored.
func (l *Ledger) Put(object any) { l.note(object, false) }

// Drop removes an object.
func (l *Ledger) Drop(object any) { l.note(object, true) }

func (l *Ledger) note(object any, gone bool) {
	switch object := object.(type) {
	case *networkingv1.Ingress:
		l.ingresses.note(object, gone)
	case *corev1.Service:
		l.services.note(object, gone)
	case *corev1.Secret:
		l.secrets.note(object, gone)
	case *corev1.ConfigMap:
		l.configMaps.note(object, gone)
	case *discoveryv1.EndpointSlice:
		l.noteSlice(object, gone)
	}
}

func (s *shelf[T]) note(object T, gone bool) {
	if s.objects == nil {
		s.objects = make(map[types.NamespacedName]T)
	}
	s.changed = true
	if gone {
		delete(s.objects, NameOf(object))
	} else {
		s.objects[NameOf(object)] = object
	}
}

// noteSlice adds, replaces or removes a slice. It also removes it from the service that it belonged
// to before.
func (l *Ledger) noteSlice(slice *discoveryv1.EndpointSlice, gone bool) {
	name := NameOf(slice)
	if old := l.slices[name]; old != nil {
		service := serviceOf(old)
		delete(l.groups[service], name)
		l.touched[service] = true
		delete(l.slices, name)
	}
	service := serviceOf(slice)
	if gone || service.Name == "" {
		return
	}
	if l.groups[service] == nil {
		l.groups[service] = make(map[types.NamespacedName]*discoveryv1.EndpointSlice)
	}
	l.groups[service][name] = slice
	l.slices[name] = slice
	l.touched[service] = true
}

// Snapshot returns the current state of the cluster.
func (l *Ledger) Snapshot() Snapshot {
	if l.ingresses.changed || l.last.Ingresses == nil {
		l.last.Ingresses = OldestFirst(slices.Collect(maps.Values(l.ingresses.objects)))
	}
	l.ingresses.changed = false
	l.last.Services = l.services.taken(l.last.Services)
	l.last.Secrets = l.secrets.taken(l.last.Secrets)
	l.last.ConfigMaps = l.configMaps.taken(l.last.ConfigMaps)
	if len(l.touched) > 0 || l.last.EndpointSlices.rows == nil {
		l.last.EndpointSlices = l.grouped()
	}
	l.last.moment = moment{l, l.last.number + 1, l.touched}
	l.touched = make(map[types.NamespacedName]bool)
	return l.last
}

// ChangedServices returns the services whose slices differ from those in an earlier snapshot. It
// compares slices by identity. It is fast for two consecutive snapshots of one Ledger.
func (s Snapshot) ChangedServices(before Snapshot) map[types.NamespacedName]bool {
	if s.ledger != nil && s.ledger == before.ledger && s.number == before.number+1 {
		return s.touched
	}
	changed := make(map[types.NamespacedName]bool)
	for service, all := range s.EndpointSlices.All() {
		if !slices.Equal(before.EndpointSlices.Of(service), all) {
			changed[service] = true
		}
	}
	for service := range before.EndpointSlices.All() {
		if s.EndpointSlices.Of(service) == nil {
			changed[service] = true
		}
	}
	return changed
}

// taken returns the map for the next snapshot: the last one, or a new one if objects changed. Maps
// in snapshots are never modified.
func (s *shelf[T]) taken(last map[types.NamespacedName]T) map[types.NamespacedName]T {
	if s.changed || last == nil {
		last = maps.Clone(s.objects)
	}
	s.changed = false
	return last
}

// grouped returns the last snapshot's slices, updated for the services that were touched.
func (l *Ledger) grouped() EndpointSlices {
	changed := make(map[types.NamespacedName][]*discoveryv1.EndpointSlice, len(l.touched))
	for service := range l.touched {
		changed[service] = slices.Collect(maps.Values(l.groups[service]))
		if len(changed[service]) == 0 {
			delete(l.groups, service)
		}
	}
	return l.last.EndpointSlices.with(changed)
}
