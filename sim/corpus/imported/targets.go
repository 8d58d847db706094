package imported

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/internal/ingresshost"
	"windtunnel.dev/internal/regexample"
	"windtunnel.dev/sim/corpus"
)

// target is a target with its ingress and service.
type target struct {
	corpus.Target
	ingress *networkingv1.Ingress
	backend key
	port    networkingv1.ServiceBackendPort
}

// host is a host with the paths and annotations of the served ingresses.
type host struct {
	pattern string   // in the ingresses: a name, *.name, or "" for all other hosts
	asked   string   // by clients
	paths   []*path  // without those of canaries
	shares  []string // paths of which canaries take a share
	why     string   // why no path of the host can be requested; "" if some can
	regex   bool     // its paths are regular expressions
	appRoot bool     // / is redirected
	tls     bool
}

// path is a path of a host.
type path struct {
	ingress *networkingv1.Ingress
	text    string
	kind    networkingv1.PathType
	backend networkingv1.IngressBackend
	why     string // why its ingress is left out; "" if it is not
}

// name returns the name of the path in reports.
func (p *path) name(h *host) string {
	return fmt.Sprintf("%s: %s%s", nameOf(p.ingress), cmp.Or(h.pattern, "*"), p.text)
}

// targets returns the hosts and paths that requests can ask for, in the order of the ingresses. It
// leaves out all others.
func (c *cluster) targets(backends map[key]*corpus.Service) []target {
	var order []*host
	for _, ingress := range c.ingresses {
		order = append(order, c.collect(ingress)...)
	}
	c.askWildcards(order)
	var all []target
	seen := map[corpus.Target]bool{}
	for _, h := range order {
		c.judgeTLS(h)
		for _, p := range h.paths {
			t, why := c.target(h, p, backends)
			switch {
			case why != "":
				c.leave(why, p.name(h))
			case !seen[t.Target]:
				seen[t.Target] = true
				all = append(all, t)
			}
		}
	}
	return all
}

// collect adds the paths of an ingress to its hosts, and returns the hosts that are new.
func (c *cluster) collect(ingress *networkingv1.Ingress) (added []*host) {
	if why := c.unserved(ingress); why != "" {
		c.leave(why, nameOf(ingress))
		return nil
	}
	own := annotationsOf(ingress)
	why := c.unplain(ingress, own)
	paths := 0
	for _, rule := range ingress.Spec.Rules {
		pattern := strings.ToLower(rule.Host)
		h := c.hosts[pattern]
		if h == nil {
			h = &host{pattern: pattern, asked: pattern}
			c.hosts[pattern] = h
			added = append(added, h)
		}
		h.learn(ingress, own, c.Snippets)
		if rule.HTTP == nil {
			continue
		}
		for _, one := range rule.HTTP.Paths {
			paths++
			if own.on("canary") {
				h.addCanary(own, cmp.Or(one.Path, "/"))
				continue
			}
			p := &path{ingress: ingress, text: cmp.Or(one.Path, "/"), kind: networkingv1.PathTypeImplementationSpecific, backend: one.Backend, why: why}
			if one.PathType != nil {
				p.kind = *one.PathType
			}
			h.paths = append(h.paths, p)
		}
	}
	switch {
	case paths == 0:
		c.leave("an ingress without a path", nameOf(ingress))
	case own.on("canary"):
		c.leave("a canary, which the requests avoid", nameOf(ingress))
	}
	return added
}

// unserved returns why the controller does not serve an ingress, or "" if it does.
func (c *cluster) unserved(ingress *networkingv1.Ingress) string {
	if ingress.Spec.IngressClassName == nil {
		switch class := ingress.Annotations["kubernetes.io/ingress.class"]; {
		case class == "":
			return "an ingress without a class"
		case class != corpus.IngressClass:
			return "an ingress of the class " + class + ", by annotation"
		case c.Foreign:
			return "an ingress whose class is an annotation, which not every controller reads"
		}
		return ""
	}
	class := *ingress.Spec.IngressClassName
	switch {
	case c.Foreign && class != corpus.IngressClass:
		return "an ingress of the class " + class + ", which not every controller of the scenario serves"
	case c.classes[class] == "":
		return "an ingress of the class " + class + ", which does not exist"
	case c.classes[class] != corpus.ControllerName:
		return "an ingress of the class " + class + ", which belongs to " + c.classes[class]
	}
	return ""
}

// plainPath matches paths of the types Exact and Prefix that ingress-nginx accepts
// (strict-validate-path-type).
var plainPath = regexp.MustCompile(`^/[A-Za-z0-9._/-]*$`)

// unplain returns why no path of an ingress can be requested, or "" if some can.
func (c *cluster) unplain(ingress *networkingv1.Ingress, own annotations) string {
	for _, rule := range ingress.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, p := range rule.HTTP.Paths {
			if p.PathType != nil && *p.PathType != networkingv1.PathTypeImplementationSpecific && !plainPath.MatchString(p.Path) {
				return "a path that the type of an ingress's path does not allow"
			}
		}
	}
	return own.unplain()
}

// learn records the effects of an ingress's annotations on all paths of the host.
func (h *host) learn(ingress *networkingv1.Ingress, own annotations, snippets bool) {
	h.regex = h.regex || own.on("use-regex") || own.has("rewrite-target")
	h.appRoot = h.appRoot || own.has("app-root")
	h.tls = h.tls || secures(ingress, h.pattern) != nil
	h.why = cmp.Or(h.why, own.ofHost(snippets))
}

func (h *host) addCanary(own annotations, path string) {
	if weight := own.value("canary-weight"); weight != "" && weight != "0" {
		h.shares = append(h.shares, path)
	}
}

// secures returns the TLS section of an ingress for a host, or nil if there is none.
func secures(ingress *networkingv1.Ingress, pattern string) *networkingv1.IngressTLS {
	n := slices.IndexFunc(ingress.Spec.TLS, func(tls networkingv1.IngressTLS) bool {
		return len(tls.Hosts) == 0 && pattern != "" || slices.ContainsFunc(tls.Hosts, func(name string) bool { return ingresshost.CertificateCovers(strings.ToLower(name), pattern) })
	})
	if n < 0 {
		return nil
	}
	return &ingress.Spec.TLS[n]
}

// askWildcards chooses the host names that clients ask for when an ingress has a wildcard host or
// no host.
func (c *cluster) askWildcards(all []*host) {
	for _, h := range all {
		suffix, wildcard := strings.CutPrefix(h.pattern, "*")
		if h.pattern == "" {
			suffix, wildcard = ".invalid", true
		}
		if !wildcard {
			continue
		}
		h.asked = "windtunnel" + suffix
		for c.hosts[h.asked] != nil {
			h.asked = "x" + h.asked
		}
	}
}

// target returns the target of a path, or why it has none.
func (c *cluster) target(h *host, p *path, backends map[key]*corpus.Service) (target, string) {
	if p.why != "" || h.why != "" {
		return target{}, cmp.Or(h.why, p.why)
	}
	if !h.tls && annotationsOf(p.ingress).on("force-ssl-redirect") {
		return target{}, "a path that is redirected to HTTPS, on a host without a certificate"
	}
	if c.Foreign && h.regex {
		return target{}, "a regular expression, which not every controller of the scenario knows"
	}
	if slices.Contains(h.shares, p.text) {
		return target{}, "a path of which a canary takes a share"
	}
	at, port, why := c.leadsTo(p, backends)
	if why != "" {
		return target{}, why
	}
	text, why := h.ask(p)
	if why != "" {
		return target{}, why
	}
	if text == "/" && h.appRoot {
		return target{}, "a path with the annotation app-root"
	}
	return target{
		Target:  corpus.Target{Host: h.asked, Path: text, Service: at.String(), TLS: h.tls},
		ingress: p.ingress, backend: at, port: port,
	}, ""
}

// leadsTo returns the service of a path, or why its pods cannot answer.
func (c *cluster) leadsTo(p *path, backends map[key]*corpus.Service) (at key, port networkingv1.ServiceBackendPort, why string) {
	if p.backend.Service == nil {
		return at, port, "a path whose backend is not a service"
	}
	at, port = key{Namespace: p.ingress.Namespace, Name: p.backend.Service.Name}, p.backend.Service.Port
	service, made := c.services[at], backends[at]
	if service == nil {
		return at, port, "a path whose service does not exist"
	}
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		return at, port, "a path whose service is of the type ExternalName"
	}
	n := slices.IndexFunc(service.Spec.Ports, func(one corev1.ServicePort) bool {
		return port.Name != "" && one.Name == port.Name || port.Name == "" && one.Port == port.Number
	})
	switch {
	case n < 0:
		return at, port, "a path whose service has no such port"
	case made == nil || len(made.Pods) == 0:
		return at, port, "a path whose service has no ready endpoint"
	}
	if to := endpointPort(made.Imported, service.Spec.Ports[n].Name); to == nil || *to.Protocol != corev1.ProtocolTCP {
		return at, port, "a path whose service has no endpoint with the port"
	}
	return at, port, ""
}

// ask returns the path that clients request to reach a path of the host, or why no such path is known.
func (h *host) ask(p *path) (text, why string) {
	exact := p.kind == networkingv1.PathTypeExact
	if (exact || !h.regex) && (!plainPath.MatchString(p.text) || strings.Contains(p.text, "//") || strings.Contains(p.text, "/.")) {
		return "", "a path with characters that have a meaning in URLs or regular expressions"
	}
	if !h.regex {
		for _, other := range h.paths {
			if other.reaches(p.text) && !sameBackend(other, p) {
				return "", "a path that another ingress or type of path also has, for another service"
			}
		}
		return p.text, ""
	}
	text, ok := p.text, true
	if !exact {
		text, ok = regexample.Of(p.text)
	}
	if !ok || !strings.HasPrefix(text, "/") {
		return "", "a regular expression without a known example"
	}
	for _, other := range h.paths {
		if other != p && len(other.text) >= len(p.text) && other.matches(text) && !sameBackend(other, p) {
			return "", "a regular expression that overlaps with another, for another service"
		}
	}
	return regexample.Escaped(text), ""
}

// reaches reports whether the path equals a text, apart from a slash at the end.
func (p *path) reaches(text string) bool {
	return strings.TrimSuffix(p.text, "/") == strings.TrimSuffix(text, "/")
}

// matches reports whether the path matches as a regular expression, or may. On a host with regular
// expressions, nginx reads paths of all types as such.
func (p *path) matches(text string) bool {
	compiled, err := regexp.Compile("^(?i:" + p.text + ")")
	return err != nil || compiled.MatchString(text)
}

func sameBackend(a, b *path) bool {
	return a.backend.Service != nil && b.backend.Service != nil && a.ingress.Namespace == b.ingress.Namespace && *a.backend.Service == *b.backend.Service
}
