package model

import (
	"bytes"
	"iter"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

// buildAll builds all parts.
func (m *Memo) buildAll(cluster snapshot.Snapshot) {
	m.index, m.model, m.common = newIndex(), &Model{}, nil
	exists := make(map[*networkingv1.Ingress]bool, len(cluster.Ingresses))
	for _, ingress := range cluster.Ingresses {
		exists[ingress] = true
	}
	maps.DeleteFunc(m.sets, func(ingress *networkingv1.Ingress, _ *parsed) bool { return !exists[ingress] })
	m.contents.keep(cluster)
	m.readAnnotations(cluster, cluster.Ingresses)
	for !m.build(cluster, nil, cluster.Ingresses, true) {
	}
}

// buildAgain rebuilds the parts that a change affects. Their ingresses may be grouped differently
// afterwards.
func (m *Memo) buildAgain(cluster snapshot.Snapshot, c change) {
	for _, ingress := range c.gone {
		delete(m.sets, ingress)
	}
	reader := m.readAnnotations(cluster, c.come)
	pool := make(map[*networkingv1.Ingress]bool)
	for _, ingress := range c.come {
		pool[ingress] = true
		refers := reader.referencesOf(ingress)
		for _, host := range refers.hosts {
			if p := m.byHost[host]; p != nil {
				c.parts[p] = true
			}
		}
		for _, use := range refers.uses {
			maps.Copy(c.parts, m.affected(use))
		}
	}
	for p := range c.parts {
		for _, ingress := range p.ingresses {
			pool[ingress] = true
		}
	}
	ingresses := slices.DeleteFunc(slices.Clone(cluster.Ingresses), func(ingress *networkingv1.Ingress) bool { return !pool[ingress] })
	if c.all || !m.build(cluster, slices.Collect(maps.Keys(c.parts)), ingresses, false) {
		m.buildAll(cluster)
	}
}

// readAnnotations adds the annotations of ingresses to the cache, and returns a builder that has
// all cached annotations.
func (m *Memo) readAnnotations(cluster snapshot.Snapshot, ingresses []*networkingv1.Ingress) *builder {
	var readers []*builder
	for some := range slices.Chunk(ingresses, 64) {
		readers = append(readers, newBuilder(cluster, m.shared, some, nil))
	}
	onAllProcessors(readers, (*builder).readAnnotations)
	for _, reader := range readers {
		maps.Copy(m.sets, reader.sets)
	}
	all := newBuilder(cluster, m.shared, nil, nil)
	all.sets = m.sets
	return all
}

// build replaces parts by new parts of the given ingresses. It returns false, and does not change
// the model, if all parts must be rebuilt or the groups must change.
func (m *Memo) build(cluster snapshot.Snapshot, gone []*part, ingresses []*networkingv1.Ingress, all bool) bool {
	reader := newBuilder(cluster, m.shared, nil, nil)
	reader.sets = m.sets
	groups := grouped(ingresses, reader.referencesOf, m.joined)
	ofAll, builders := m.common, []*builder(nil)
	if all || slices.ContainsFunc(gone, func(p *part) bool { return p.common }) {
		first := newBuilder(cluster, m.shared, groups[0].ingresses, nil)
		first.connect()
		if !all && !first.common.sameForOthers(m.common) {
			return false
		}
		ofAll, builders = first.common, append(builders, first)
	} else {
		groups = groups[1:]
	}
	for _, g := range groups[len(builders):] {
		builders = append(builders, newBuilder(cluster, m.shared, g.ingresses, ofAll))
	}
	others := builders
	if len(others) > 0 && others[0].isCommon() {
		others = others[1:]
	}
	onAllProcessors(others, (*builder).connect)
	defined, same := m.definedAfter(gone, builders)
	if !same && !all {
		return false
	}
	come := make([]*part, len(builders))
	onAllProcessors(builders, func(b *builder) { b.built = b.finish(defined) })
	for i, b := range builders {
		come[i] = b.built
		come[i].group = groups[i]
	}
	if differing := m.differing(gone, come); len(differing) > 0 {
		for _, name := range differing {
			m.joined[name] = true
		}
		return false
	}
	m.replace(cluster, gone, come, ofAll)
	return true
}

// sameForOthers reports whether the other parts would be the same with either common part.
func (c *common) sameForOthers(other *common) bool {
	return c.defaultBackend.Service == other.defaultBackend.Service && c.defaultCertificate == other.defaultCertificate
}

// definedAfter returns the variables that are defined after the builders' parts replace gone, and
// whether they are the same as now.
func (m *Memo) definedAfter(gone []*part, builders []*builder) (defined map[string]bool, same bool) {
	count := maps.Clone(m.defined)
	for _, p := range gone {
		for variable := range p.variables {
			count[variable]--
		}
	}
	for _, b := range builders {
		for variable := range b.variables {
			count[variable]++
		}
	}
	defined = make(map[string]bool)
	for variable, n := range count {
		if n > 0 {
			defined[variable] = true
		}
	}
	same = len(defined) == len(m.defined)
	for variable := range m.defined {
		same = same && defined[variable]
	}
	return defined, same
}

// replace makes a new model in which the parts come replace the parts gone.
func (m *Memo) replace(cluster snapshot.Snapshot, gone, come []*part, ofAll *common) {
	touched := slices.Concat(gone, come)
	next := *m.model
	goneBackends, comeBackends := m.exchange(gone, come)
	next.Servers = replaced(next.Servers, collect(gone, (*part).itsServers), collect(come, (*part).itsServers), compareServers)
	next.Backends = NewBackendList(replaced(next.Backends.Slice(), goneBackends, comeBackends, compareBackends))
	next.RedirectServers = replaced(next.RedirectServers, collect(gone, (*part).itsRedirects), collect(come, (*part).itsRedirects), compareRedirects)
	next.PassthroughBackends = replaced(next.PassthroughBackends, collect(gone, (*part).itsPassthrough), collect(come, (*part).itsPassthrough), comparePassthrough)
	before := m.model.origin
	if before == nil {
		before = new(origin)
	}
	same := func(a, b bool) bool { return a == b }
	next.Files = merged(m, next.Files, gone, come, func(p *part) map[string][]byte { return p.files }, bytes.Equal)
	next.origin = &origin{
		configMaps: merged(m, before.configMaps, gone, come, func(p *part) map[types.NamespacedName]bool { return p.configMaps }, same),
		secrets:    merged(m, before.secrets, gone, come, func(p *part) map[types.NamespacedName]bool { return p.secrets }, same),
	}
	if m.common == nil || slices.ContainsFunc(touched, func(p *part) bool { return p.hasStreamSnippet }) {
		next.StreamSnippets = streamSnippets(cluster.Ingresses, m.sets, m.options)
	}
	if m.common == nil || slices.ContainsFunc(touched, func(p *part) bool { return len(p.findings) > 0 }) {
		m.findings = nil
		for p := range m.parts {
			m.findings = append(m.findings, p.findings...)
		}
		sortFindings(m.findings)
	}
	m.common, m.defaultCertificate = ofAll, ofAll.defaultCertificate
	next.take(ofAll)
	m.model = &next
}

// exchange replaces parts in the index, and returns the backends that the model loses and gains. A
// backend that stays equal stays the same object.
func (m *Memo) exchange(gone, come []*part) (goneBackends, comeBackends []*Backend) {
	before := make(map[string]*Backend)
	for _, p := range slices.Concat(gone, come) {
		for _, backend := range p.backends {
			before[backend.Name] = m.backend(backend.Name)
		}
	}
	for _, p := range gone {
		m.remove(p)
	}
	for _, p := range come {
		m.add(p)
	}
	for name, old := range before {
		now := m.backend(name)
		if old != nil && now != nil && now.same(old) {
			m.set(m.backends[name], old)
			continue
		}
		if old != nil {
			goneBackends = append(goneBackends, old)
		}
		if now != nil {
			comeBackends = append(comeBackends, now)
		}
	}
	return goneBackends, comeBackends
}

func (p *part) itsServers() []*Server                { return p.servers }
func (p *part) itsRedirects() []Redirect             { return p.redirects }
func (p *part) itsPassthrough() []PassthroughBackend { return p.passthrough }

func collect[T any](parts []*part, of func(*part) []T) []T {
	var all []T
	for _, p := range parts {
		all = append(all, of(p)...)
	}
	return all
}

// merged returns the union of the maps of all parts. It returns the map before if come and gone
// have equal entries.
func merged[K comparable, V any](m *Memo, before map[K]V, gone, come []*part, of func(*part) map[K]V, equal func(V, V) bool) map[K]V {
	if before != nil && maps.EqualFunc(union(slices.Values(gone), of), union(slices.Values(come), of), equal) {
		return before
	}
	return union(maps.Keys(m.parts), of)
}

func union[K comparable, V any](parts iter.Seq[*part], of func(*part) map[K]V) map[K]V {
	all := make(map[K]V)
	for p := range parts {
		maps.Copy(all, of(p))
	}
	return all
}

// onAllProcessors calls a function for each element, in any order.
func onAllProcessors[T any](all []T, do func(T)) {
	if len(all) == 1 {
		do(all[0])
		return
	}
	var running errgroup.Group
	running.SetLimit(runtime.GOMAXPROCS(0))
	for some := range slices.Chunk(all, 16) {
		running.Go(func() error {
			for _, one := range some {
				do(one)
			}
			return nil
		})
	}
	_ = running.Wait() // no error
}
