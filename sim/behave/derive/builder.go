package derive

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/internal/ingresshost"
	"windtunnel.dev/internal/regexample"
	"windtunnel.dev/sim/behave"
)

// builder makes the case of some ingresses. Objects get namespaces of the case, so that cases do not
// share any.
type builder struct {
	*cluster
	o     Options
	notes *notes
	name  string          // of the case, and of its first namespace
	taken map[string]bool // names of cases and of their namespaces

	ingresses    []*ingress
	namespaces   map[string]string             // of the case, by that of the manifests
	names        map[string]bool               // of services and Secrets that are taken
	services     map[key]*service              // by their names in the manifests
	certificates map[key]*certificate          // by the Secret in the manifests
	extra        map[string]behave.Certificate // further ones, by name
	passwords    map[key]string                // names of Secrets with passwords; the value is the type
	configMaps   map[key]bool                  // that ingresses name
	config       map[string]string
	sites        []*site
	questions    []*question
	clients      int // how many addresses were given to clients
}

func newBuilder(all *cluster, o Options, notes *notes, taken map[string]bool, members []*ingress) *builder {
	return &builder{
		cluster: all, o: o, notes: notes, name: nameOf(members, taken), taken: taken, ingresses: members,
		namespaces: map[string]string{}, names: map[string]bool{behave.None: true, behave.Default: true},
		services: map[key]*service{}, certificates: map[key]*certificate{}, extra: map[string]behave.Certificate{},
		passwords: map[key]string{}, configMaps: map[key]bool{}, config: maps.Clone(all.config),
	}
}

// build makes the case. The first case of all also asks about the ConfigMap.
func (b *builder) build(first bool) *Case {
	for _, i := range b.ingresses {
		b.collect(i)
	}
	b.localConfig()
	b.findSites()
	b.speakToCanaries()
	for _, s := range b.sites {
		b.askPaths(s)
	}
	for _, i := range b.ingresses {
		b.askAnnotations(i)
	}
	if first {
		b.askConfig()
	}
	made := &Case{}
	made.Name = b.name
	made.Summary = b.summary()
	made.Flags = maps.Clone(b.o.Flags)
	b.objects(&made.Case)
	made.Config = b.config
	for _, q := range b.ordered() {
		made.Steps = append(made.Steps, q.step)
		made.looks = append(made.looks, q.look)
	}
	made.Covers = covered(made.Steps)
	return made
}

func (b *builder) summary() string {
	var hosts []string
	for _, s := range b.sites {
		hosts = append(hosts, cmp.Or(s.pattern, "requests for no host of an ingress"))
	}
	if shown := 4; len(hosts) > shown {
		hosts = append(hosts[:shown], "other hosts")
	}
	return "the answers to clients of " + strings.Join(hosts, ", ")
}

// covered returns the annotations and keys that the steps are about.
func covered(steps []behave.Step) []string {
	var all []string
	for _, step := range steps {
		for _, about := range step.About {
			if !strings.HasPrefix(about, behave.FieldPrefix) {
				all = append(all, about)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// namespace returns the namespace of the case for one of the manifests.
func (b *builder) namespace(of string) string {
	if b.namespaces[of] == "" {
		if len(b.namespaces) == 0 {
			b.namespaces[of] = b.name
		} else {
			b.namespaces[of] = unique(label(b.name+"-"+of), b.taken)
		}
	}
	return b.namespaces[of]
}

// site is a host with its paths.
type site struct {
	pattern string // in the ingresses: a name, *.name, or "" for all other hosts
	host    string // that clients ask for
	tls     bool   // an ingress has a certificate for it, or redirects to https
	regex   bool   // its paths are regular expressions
	paths   []*path
}

// path is a path of a site, of an ingress that is not a canary.
type path struct {
	*ingress
	text    string
	kind    networkingv1.PathType
	backend *service
	regex   bool
}

// asked returns the path of a request that p should match. ok is false if there is none.
func (p *path) asked() (text string, ok bool) {
	if !p.regex {
		return regexample.Escaped(p.text), strings.HasPrefix(p.text, "/")
	}
	text, ok = regexample.Of(p.text)
	return regexample.Escaped(text), ok && strings.HasPrefix(text, "/")
}

// findSites collects the hosts of the ingresses with their paths.
func (b *builder) findSites() {
	byPattern := map[string]*site{}
	get := func(pattern string) *site {
		pattern = strings.ToLower(pattern)
		s := byPattern[pattern]
		if s == nil {
			s = &site{pattern: pattern, host: b.hostOf(pattern)}
			byPattern[pattern] = s
			b.sites = append(b.sites, s)
		}
		return s
	}
	for _, i := range b.ingresses {
		for _, rule := range i.spec.Rules {
			s := get(rule.Host)
			s.regex = s.regex || i.has("rewrite-target") || i.on("use-regex")
			s.tls = s.tls || i.secures(s.pattern) || i.on("force-ssl-redirect") || isTrue(b.config["force-ssl-redirect"]) || i.grpc()
			if rule.HTTP == nil || i.on("canary") {
				continue
			}
			for _, p := range rule.HTTP.Paths {
				b.addPath(s, i, p)
			}
		}
		if len(i.spec.Rules) == 0 {
			get("")
		}
	}
	for _, s := range b.sites {
		for _, p := range s.paths {
			p.regex = s.regex
		}
	}
}

// addPath adds a path of an ingress to its site.
func (b *builder) addPath(s *site, i *ingress, p networkingv1.HTTPIngressPath) {
	if p.Backend.Service == nil {
		b.notes.add("Ingress", "a path is not tested: its backend is not a service", i.object())
		return
	}
	text, kind := cmp.Or(p.Path, "/"), networkingv1.PathTypeImplementationSpecific
	if p.PathType != nil {
		kind = *p.PathType
	}
	if slices.ContainsFunc(s.paths, func(before *path) bool {
		return before.ingress != i && before.text == text && !ordered(before.made, i.made)
	}) {
		b.notes.add("field/path", "another ingress has the same path, and the manifests do not say which of them is older, so another one may win", i.object())
	}
	s.paths = append(s.paths, &path{ingress: i, text: text, kind: kind, backend: b.service(i.Namespace, p.Backend.Service.Name)})
}

// ordered reports whether two creation times determine which of two objects is older.
func ordered(a, b metav1.Time) bool { return !a.IsZero() && !b.IsZero() && !a.Equal(&b) }

// secures reports whether the ingress has a tls section for a host.
func (i *ingress) secures(host string) bool {
	return slices.ContainsFunc(i.spec.TLS, func(tls networkingv1.IngressTLS) bool {
		return len(tls.Hosts) == 0 && host != "" || slices.ContainsFunc(tls.Hosts, func(h string) bool { return ingresshost.CertificateCovers(strings.ToLower(h), host) })
	})
}

// hostOf returns a host that a client asks for to reach a host of an ingress.
func (b *builder) hostOf(pattern string) string {
	suffix, wildcard := strings.CutPrefix(pattern, "*")
	if !wildcard && pattern != "" {
		return pattern
	}
	if pattern == "" {
		suffix = ".invalid"
	}
	host := word + suffix
	for b.claimed(host) {
		host = "x" + host
	}
	return host
}

// claimed reports whether an ingress has a rule for this very host.
func (b *builder) claimed(host string) bool {
	return slices.ContainsFunc(b.cluster.ingresses, func(i *ingress) bool { return slices.Contains(i.claims(), host) })
}

// sample returns the site and path at which questions about an ingress are asked: its first path for
// which a request can be made. For a canary, it is a path of the main ingress.
func (b *builder) sample(i *ingress) (*site, *path) {
	for _, s := range b.sites {
		for _, p := range s.paths {
			if _, ok := p.asked(); ok && (p.ingress == i || i.on("canary") && i.offers(s.pattern, p.text)) {
				return s, p
			}
		}
	}
	return nil, nil
}

// offers reports whether the ingress has a path of a host.
func (i *ingress) offers(host, path string) bool { return i.pathOf(host, path) != nil }

// pathOf returns a path of a host, or nil if the ingress does not have it.
func (i *ingress) pathOf(host, path string) *networkingv1.HTTPIngressPath {
	for _, rule := range i.spec.Rules {
		if strings.ToLower(rule.Host) != host || rule.HTTP == nil {
			continue
		}
		for n := range rule.HTTP.Paths {
			if p := &rule.HTTP.Paths[n]; cmp.Or(p.Path, "/") == path {
				return p
			}
		}
	}
	return nil
}

// canaries returns the canaries of a path, or of all paths of the site for nil.
func (b *builder) canaries(s *site, of *path) []*ingress {
	var all []*ingress
	for _, i := range b.ingresses {
		if i.on("canary") && slices.ContainsFunc(s.paths, func(p *path) bool { return (of == nil || p == of) && i.offers(s.pattern, p.text) }) {
			all = append(all, i)
		}
	}
	return all
}
