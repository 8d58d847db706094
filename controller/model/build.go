package model

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// Build computes the model in the order of ingress-nginx: the default backend, all backends, the
// servers with their default locations, the paths, the canaries, the fallbacks of backends without
// endpoints, then TCP and UDP. The findings are sorted.
func Build(cluster snapshot.Snapshot, opts options.Options) (*Model, []Finding) {
	b := newBuilder(cluster, newShared(opts), cluster.Ingresses, nil)
	b.connect()
	p := b.finish(b.variables)
	return p.model(b), p.findings
}

// connect performs the first half of a build. It determines the variables that snippets and
// patterns define.
func (b *builder) connect() {
	b.readAnnotations()
	b.addDefaultBackend()
	b.addBackends()
	b.addServers()
	b.addServerSettings()
	b.addPaths()
	b.addCanaries()
	b.addFallbacks()
	b.addSecrets()
	b.variables = b.definedVariables()
}

// finish performs the second half of a build. defined contains the variables that any part defines.
func (b *builder) finish(defined map[string]bool) *part {
	b.further = b.furtherVariables(defined)
	b.keepReadable()
	p := &part{
		common:           b.isCommon(),
		backends:         b.sortedBackends(),
		servers:          b.sortedServers(),
		passthrough:      b.passthrough,
		files:            b.files,
		variables:        b.variables,
		hasStreamSnippet: slices.ContainsFunc(b.Ingresses, func(ingress *networkingv1.Ingress) bool { return b.annotations(ingress).Snippets.Stream != "" }),
		reads:            b.reads,
	}
	p.redirects = b.certified(b.redirects())
	b.denyWithoutGlobalAuth(p.servers)
	if p.common {
		b.addCommon()
	} else {
		p.backends = slices.DeleteFunc(p.backends, func(backend *Backend) bool { return backend == b.common.defaultBackend })
	}
	p.findings = sortFindings(b.findings)
	return p
}

// common contains the configuration that belongs to no ingress.
type common struct {
	publishService           *corev1.Service
	tcp, udp                 []L4Service
	addHeaders, proxyHeaders map[string]string
	dhParam                  string
	defaultCertificate       *SSLCert
	defaultBackend           *Backend
}

// isCommon reports whether the builder builds the common part.
func (b *builder) isCommon() bool { return b.builtCommon == nil }

// addCommon adds the configuration that belongs to no ingress and affects none.
func (b *builder) addCommon() {
	b.common.publishService = b.service(b.options.PublishService)
	b.common.tcp = b.streamServices(b.options.TCPServices, corev1.ProtocolTCP)
	b.common.udp = b.streamServices(b.options.UDPServices, corev1.ProtocolUDP)
	b.common.addHeaders = b.headersOf("add-headers", b.options.Config.AddHeaders)
	b.common.proxyHeaders = b.headersOf("proxy-set-headers", b.options.Config.ProxySetHeaders)
}

// model returns the model that consists of one part.
func (p *part) model(b *builder) *Model {
	m := &Model{
		Backends:            NewBackendList(p.backends),
		Servers:             p.servers,
		RedirectServers:     p.redirects,
		PassthroughBackends: p.passthrough,
		Files:               p.files,
		StreamSnippets:      streamSnippets(b.Ingresses, b.sets, b.options),
		origin:              &origin{configMaps: p.configMaps, secrets: p.secrets},
	}
	m.take(b.common)
	return m
}

// take copies the fields that belong to no ingress.
func (m *Model) take(c *common) {
	m.PublishService, m.TCPBackends, m.UDPBackends = c.publishService, c.tcp, c.udp
	m.AddHeaders, m.ProxySetHeaders = c.addHeaders, c.proxyHeaders
	m.SSLDHParam, m.DefaultSSLCertificate = c.dhParam, c.defaultCertificate
}

// shared is the state that all builders of one configuration share, besides the cluster.
type shared struct {
	options       options.Options
	noAnnotations annotations.Set
	known         map[string]bool // variables that do not depend on the cluster
	contents      *contents
	sets          map[*networkingv1.Ingress]*parsed // a cache; only read while builders run
	found         *foundEndpoints                   // for the cluster of this build
	// defaultCertificate is the last certificate. It stays the same object while its contents do
	// not change.
	defaultCertificate *SSLCert
}

func newShared(opts options.Options) *shared {
	s := &shared{options: opts, known: knownVariables(opts), contents: newContents(), sets: make(map[*networkingv1.Ingress]*parsed), found: newFoundEndpoints()}
	s.noAnnotations, _, _ = annotations.Parse(new(networkingv1.Ingress), opts) // cannot fail
	return s
}

// builder is the state of one build of a part.
type builder struct {
	snapshot.Snapshot // its Ingresses are those of the part that are not left out
	*shared
	given       []*networkingv1.Ingress // all ingresses of the part
	builtCommon *common                 // nil for the builder of the common part
	common      *common

	backends map[string]*Backend
	servers  map[string]*Server
	findings []Finding

	aliases   map[string]*Server // the server of each alias
	aliased   []serverWish       // servers with aliases
	fromToWWW []serverWish       // servers to which the name with, or without, www redirects

	named map[*networkingv1.Ingress]*fromConfigMaps // cache of configMapsOf
	sets  map[*networkingv1.Ingress]*parsed

	variables map[string]bool // defined by the part
	further   map[string]bool // of nginx and of all parts, besides nginx's usual ones
	*reads

	files       map[string][]byte
	passthrough []PassthroughBackend
	built       *part // the result
}

// newBuilder returns the builder of a part that consists of the given ingresses. built is the
// common part, or nil to build the common part itself.
func newBuilder(cluster snapshot.Snapshot, s *shared, ingresses []*networkingv1.Ingress, built *common) *builder {
	b := &builder{
		Snapshot:    cluster,
		shared:      s,
		given:       ingresses,
		builtCommon: built,
		common:      built,
		backends:    make(map[string]*Backend),
		servers:     make(map[string]*Server),
		named:       make(map[*networkingv1.Ingress]*fromConfigMaps),
		sets:        make(map[*networkingv1.Ingress]*parsed, len(ingresses)),
		reads:       newReads(),
	}
	if built == nil {
		b.common = new(common)
	}
	b.Ingresses = ingresses
	return b
}

// service returns the service of that name, or nil. A part is built again if a service that it
// looked up changes.
func (b *builder) service(name types.NamespacedName) *corev1.Service {
	b.services[name] = true
	return b.Services[name]
}

func (b *builder) sortedBackends() Backends {
	return slices.SortedFunc(maps.Values(b.backends), compareBackends)
}

func (b *builder) sortedServers() []*Server {
	for _, server := range b.servers {
		server.byClaim = nil // sorting invalidates the indexes
		sortLocations(server.Locations)
		server.Locations = splitPrefixes(server.Locations)
	}
	return slices.SortedFunc(maps.Values(b.servers), compareServers)
}
