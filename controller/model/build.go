package model

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// Build works out the model in the order of ingress-nginx: the default backend, all backends, the
// servers with their default locations, the paths, the canaries, the fallbacks of backends without
// endpoints, then TCP and UDP. The findings are in that order, too.
func Build(cluster snapshot.Snapshot, opts options.Options) (*Model, []Finding) {
	return newBuilder(cluster, opts, nil).build()
}

func (b *builder) build() (*Model, []Finding) {
	opts := b.options
	b.readAnnotations()
	b.addDefaultBackend()
	b.addBackends()
	b.addServers()
	b.addServerSettings()
	b.addPaths()
	b.addCanaries()
	b.addFallbacks()
	b.addSecrets()
	b.keepReadable()
	built := &Model{
		Backends:              b.sortedBackends(),
		Servers:               b.sortedServers(),
		RedirectServers:       b.certified(b.redirects()),
		PassthroughBackends:   b.passthrough,
		PublishService:        b.Services[opts.PublishService],
		TCPBackends:           b.streamServices(opts.TCPServices, corev1.ProtocolTCP),
		UDPBackends:           b.streamServices(opts.UDPServices, corev1.ProtocolUDP),
		StreamSnippets:        b.streamSnippets(),
		AddHeaders:            b.headersOf("add-headers", opts.Config.AddHeaders),
		ProxySetHeaders:       b.headersOf("proxy-set-headers", opts.Config.ProxySetHeaders),
		DefaultSSLCertificate: b.defaultCertificate,
		SSLDHParam:            b.dhParam,
		Files:                 b.files,
	}
	b.denyWithoutGlobalAuth(built.Servers)
	b.followers = followers(built.Backends)
	built.origin = b.origin
	return built, b.findings
}

// builder is the state of one Build.
type builder struct {
	snapshot.Snapshot
	options  options.Options
	backends map[string]*Backend
	servers  map[string]*Server
	findings []Finding

	aliases   map[string]*Server // the server of each alias
	aliased   []serverWish       // servers with aliases
	fromToWWW []serverWish       // servers to which the name with, or without, www redirects

	named map[*networkingv1.Ingress]*fromConfigMaps // cache of configMapsOf

	*origin
	parsedBefore  map[*networkingv1.Ingress]*parsed // a cache, valid for the same options
	noAnnotations annotations.Set

	secrets
}

// newBuilder returns an empty builder. parsedBefore has annotations that were parsed earlier with
// the same options; it may be nil.
func newBuilder(cluster snapshot.Snapshot, opts options.Options, parsedBefore map[*networkingv1.Ingress]*parsed) *builder {
	return &builder{
		Snapshot:     cluster,
		options:      opts,
		backends:     make(map[string]*Backend),
		servers:      make(map[string]*Server),
		named:        make(map[*networkingv1.Ingress]*fromConfigMaps),
		parsedBefore: parsedBefore,
		origin: &origin{
			configMaps: make(map[types.NamespacedName]bool),
			secrets:    make(map[types.NamespacedName]bool),
			sets:       make(map[*networkingv1.Ingress]*parsed, len(cluster.Ingresses)),
			decisive:   make(map[string]bool),
			frozen:     make(map[types.NamespacedName]bool),
		},
	}
}

func (b *builder) sortedBackends() Backends {
	return slices.SortedFunc(maps.Values(b.backends), func(x, y *Backend) int { return cmp.Compare(x.Name, y.Name) })
}

func (b *builder) sortedServers() []*Server {
	for _, server := range b.servers {
		server.byClaim = nil // sorting invalidates the indexes
		sortLocations(server.Locations)
		server.Locations = splitPrefixes(server.Locations)
	}
	return slices.SortedFunc(maps.Values(b.servers), func(x, y *Server) int { return cmp.Compare(x.Hostname, y.Hostname) })
}
