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

// Ledger follows a cluster object by object, so that a snapshot costs what
// changed since the one before; they share the rest. What it holds is what
// Take would make of a Source with the same objects.
type Ledger struct {
	last       Snapshot
	ingresses  shelf[*networkingv1.Ingress]
	services   shelf[*corev1.Service]
	secrets    shelf[*corev1.Secret]
	configMaps shelf[*corev1.ConfigMap]

	slices  map[types.NamespacedName]*discoveryv1.EndpointSlice
	groups  map[types.NamespacedName]map[types.NamespacedName]*discoveryv1.EndpointSlice // by service, then by their own name
	touched map[types.NamespacedName]bool                                                // services whose group changed
}

// moment says which snapshot of a Ledger one is, and which services' slices
// are others than in the one before.
type moment struct {
	ledger  *Ledger // nil: of none
	number  int
	touched map[types.NamespacedName]bool
}

// shelf is the objects of one kind.
type shelf[T metav1.Object] struct {
	objects map[types.NamespacedName]T
	changed bool // since the last snapshot
}

// NewLedger is empty.
func NewLedger() *Ledger {
	return &Ledger{
		slices:  make(map[types.NamespacedName]*discoveryv1.EndpointSlice),
		groups:  make(map[types.NamespacedName]map[types.NamespacedName]*discoveryv1.EndpointSlice),
		touched: make(map[types.NamespacedName]bool),
	}
}

// Put notes a new object, or another version of one. Kinds that a snapshot does
// not have are ignored.
func (l *Ledger) Put(object any) { l.note(object, false) }

// Drop notes that an object is gone.
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

// noteSlice also takes a slice from the service that it belonged to before.
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

// Snapshot is what the cluster holds now.
func (l *Ledger) Snapshot() Snapshot {
	if l.ingresses.changed || l.last.Ingresses == nil {
		l.last.Ingresses = OldestFirst(slices.Collect(maps.Values(l.ingresses.objects)))
	}
	l.ingresses.changed = false
	l.last.Services = l.services.taken(l.last.Services)
	l.last.Secrets = l.secrets.taken(l.last.Secrets)
	l.last.ConfigMaps = l.configMaps.taken(l.last.ConfigMaps)
	if len(l.touched) > 0 || l.last.EndpointSlices.shards == nil {
		l.last.EndpointSlices = l.grouped()
	}
	l.last.moment = moment{l, l.last.number + 1, l.touched}
	l.touched = make(map[types.NamespacedName]bool)
	return l.last
}

// ChangedServices are those of which a snapshot has other slices than one
// before it, by the identity of the slices. It is quick for one snapshot of a
// Ledger and the next.
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

// taken is the last snapshot's map, or another one if objects changed: what was
// given away is not written to.
func (s *shelf[T]) taken(last map[types.NamespacedName]T) map[types.NamespacedName]T {
	if s.changed || last == nil {
		last = maps.Clone(s.objects)
	}
	s.changed = false
	return last
}

// grouped are the last snapshot's slices with those of the services that were
// touched.
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
