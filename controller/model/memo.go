package model

import (
	"iter"
	"maps"
	"reflect"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/internal/inplace"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// Memo builds a sequence of models and repeats only the work that a change of the cluster can
// affect. If only endpoints changed, it rebuilds only their backends; otherwise only the parts with
// changed ingresses, services or other objects. The results are the same as those of Build. It
// compares objects by identity, because nobody modifies them.
//
// The zero Memo is ready to use.
type Memo struct {
	cluster snapshot.Snapshot
	*shared
	comparer inplace.Comparer[options.Options]
	common   *common
	model    *Model
	findings []Finding
	index
}

// origin identifies the inputs of everything except the endpoints of Backends. The maps contain the
// objects that were looked up, including missing ones.
type origin struct {
	configMaps, secrets map[types.NamespacedName]bool
}

// Build returns the model of the cluster and the options.
func (m *Memo) Build(cluster snapshot.Snapshot, opts options.Options) (*Model, []Finding) {
	if m.model == nil || !m.comparer.Equal(opts, &m.options) || !reflect.DeepEqual(m.cluster.Closed, cluster.Closed) {
		fresh := newShared(opts)
		if m.shared != nil {
			fresh.contents, fresh.defaultCertificate = m.contents, m.defaultCertificate
		}
		m.shared = fresh
		m.buildAll(cluster)
	} else {
		m.found = newFoundEndpoints()
		changed := m.changesTo(cluster)
		if len(changed.moves) > 0 {
			m.model = m.moved(changed)
		}
		if !changed.onlyMoves() {
			m.buildAgain(cluster, changed)
		}
	}
	m.cluster, m.found = cluster, nil
	return m.model, m.findings
}

// change is the difference that a new cluster makes to a model.
type change struct {
	gone, come []*networkingv1.Ingress
	parts      map[*part]bool // to rebuild
	all        bool           // rebuild all parts
	moves      []move
}

// move is a backend of which only the endpoints changed.
type move struct {
	shared *sharedBackend
	now    *Backend
}

func (c change) onlyMoves() bool {
	return len(c.gone) == 0 && len(c.come) == 0 && len(c.parts) == 0 && !c.all
}

// changesTo compares the cluster with the last one.
func (m *Memo) changesTo(now snapshot.Snapshot) change {
	before := m.cluster
	c := change{parts: make(map[*part]bool)}
	c.gone, c.come = differing(before.Ingresses, now.Ingresses)
	for _, ingress := range c.gone {
		c.parts[m.partOf[ingress]] = true
	}
	m.findReaders(c, changedObjects(before.Services, now.Services), func(p *part) map[types.NamespacedName]bool { return p.services })
	m.findReaders(c, changedObjects(before.ConfigMaps, now.ConfigMaps), func(p *part) map[types.NamespacedName]bool { return p.configMaps })
	secrets := changedObjects(before.Secrets, now.Secrets)
	if len(secrets) > 0 {
		m.contents.keep(now)
	}
	m.findReaders(c, secrets, func(p *part) map[types.NamespacedName]bool { return p.secrets })
	for service := range now.ChangedServices(before) {
		maps.Copy(c.parts, m.frozen[service])
		for name := range m.followers[service] {
			m.follow(&c, m.backends[name], now)
		}
	}
	return c
}

// findReaders adds the parts that looked up a changed object.
func (m *Memo) findReaders(c change, changed map[types.NamespacedName]bool, lookedUp func(*part) map[types.NamespacedName]bool) {
	if len(changed) == 0 {
		return
	}
	for p := range m.parts {
		for name := range lookedUp(p) {
			if changed[name] {
				c.parts[p] = true
				break
			}
		}
	}
}

// follow adds the effects of changed slices on a backend and on the parts that refer to it.
func (m *Memo) follow(c *change, shared *sharedBackend, now snapshot.Snapshot) {
	backend := shared.Backend
	endpoints := backend.source.endpoints(now, m.options.Zone)
	if len(withoutProtected(endpoints, m.options.Ports)) < len(endpoints) {
		maps.Copy(c.parts, shared.parts) // they get a finding
		return
	}
	if (len(endpoints) == 0) != (len(backend.Endpoints) == 0) {
		c.all = c.all || backend.Name == DefaultBackendName
		for p := range shared.parts {
			if p.decisive[backend.Name] {
				c.parts[p] = true
			}
		}
	}
	if !sameEndpoints(endpoints, backend.Endpoints) {
		moved := *backend
		moved.Endpoints = endpoints
		c.moves = append(c.moves, move{shared, &moved})
	}
}

// moved returns the last model with the moved backends.
func (m *Memo) moved(c change) *Model {
	next := *m.model
	for _, move := range c.moves {
		if (len(move.now.Endpoints) == 0) != (len(move.shared.Endpoints) == 0) {
			next.filled = new(byte)
		}
		if i, ok := next.Backends.search(move.now.Name); ok {
			next.Backends.List = next.Backends.With(i, move.now)
		}
		m.set(move.shared, move.now)
	}
	return &next
}

// differing returns the elements that are in only one of two lists. Most elements are in both, in
// the same order.
func differing(before, now []*networkingv1.Ingress) (gone, come []*networkingv1.Ingress) {
	if snapshot.SameIngresses(before, now) {
		return nil, nil
	}
	for len(before) > 0 && len(now) > 0 && before[0] == now[0] {
		before, now = before[1:], now[1:]
	}
	for len(before) > 0 && len(now) > 0 && before[len(before)-1] == now[len(now)-1] {
		before, now = before[:len(before)-1], now[:len(now)-1]
	}
	had := make(map[*networkingv1.Ingress]bool, len(before))
	for _, ingress := range before {
		had[ingress] = true
	}
	for _, ingress := range now {
		if !had[ingress] {
			come = append(come, ingress)
		}
		delete(had, ingress)
	}
	return slices.Collect(maps.Keys(had)), come
}

// changedObjects returns the names of the objects that differ. It is fast if both maps are the
// same; snapshots of a Ledger share the map if no object of that kind changed.
func changedObjects[T comparable](before, now map[types.NamespacedName]T) map[types.NamespacedName]bool {
	if reflect.ValueOf(before).Pointer() == reflect.ValueOf(now).Pointer() {
		return nil
	}
	changed := make(map[types.NamespacedName]bool)
	for name, object := range now {
		if had, ok := before[name]; !ok || had != object {
			changed[name] = true
		}
	}
	for name := range before {
		if _, still := now[name]; !still {
			changed[name] = true
		}
	}
	return changed
}

// SameButEndpoints reports whether two models of one Memo are equal except for the endpoints of
// their backends.
func (m *Model) SameButEndpoints(other *Model) bool {
	return other != nil && m.origin != nil && m.origin == other.origin
}

// SameServing reports whether two models of one Memo are equal except for the endpoints of their
// backends, and the same backends have endpoints.
func (m *Model) SameServing(other *Model) bool {
	return m.SameButEndpoints(other) && m.filled == other.filled
}

// ConfigMaps returns the ConfigMaps that were looked up, besides the controller's own, in any
// order.
func (m *Model) ConfigMaps() iter.Seq[types.NamespacedName] { return maps.Keys(m.origin.configMaps) }

// Secrets returns the Secrets that were looked up, in any order.
func (m *Model) Secrets() iter.Seq[types.NamespacedName] { return maps.Keys(m.origin.secrets) }

// ReadsSecret reports whether the Secret was looked up.
func (m *Model) ReadsSecret(secret types.NamespacedName) bool { return m.origin.secrets[secret] }

// Reads reports whether the ConfigMap was looked up.
func (m *Model) Reads(configMap types.NamespacedName) bool { return m.origin.configMaps[configMap] }
