package model

import (
	"iter"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/snapshot"
)

// addPaths adds a location for each path of each rule. If several ingresses claim a path, the
// oldest wins.
func (b *builder) addPaths() {
	for _, ingress := range b.Ingresses {
		if b.isCanary(ingress) {
			continue
		}
		for path := range paths(ingress) {
			b.addPath(ingress, path)
		}
	}
}

func (b *builder) addPath(ingress *networkingv1.Ingress, path rulePath) {
	server := b.servers[path.host]
	if server == nil || path.Backend.Service == nil {
		return // addServer or addBackend has reported a finding
	}
	if reason := invalidPath(path.Path); reason != "" {
		b.denyBeginning(ingress, path, server, reason)
		return
	}
	i := server.find(path.Path, *path.PathType)
	known := i >= 0
	taken := known && !server.Locations[i].IsDefBackend
	location := new(Location)
	if known && !taken {
		location = server.Locations[i]
	}
	b.describe(location, path.Path, path.PathType, ingress, b.backendOf(ingress, path.Backend.Service))
	b.closeRoute(location, path.route)
	b.closeIfNameTaken(location, path.Backend.Service)
	if taken {
		holder := server.Locations[i].owner()
		b.find(ingress, path.key, "%s %s of %s is already taken by %s; this one is ignored", *path.PathType, path.Path, path.host, holder)
		return
	}
	if !known {
		server.Locations = append(server.Locations, location)
	}
	b.addAffinity(b.backends[location.Backend], ingress, path)
}

// rulePath is a path of a rule with Kubernetes' defaults applied.
type rulePath struct {
	networkingv1.HTTPIngressPath
	host  string // "_" for a rule without one
	key   string // the field of the ingress, for findings
	route snapshot.Route
}

// paths returns the paths of all rules of an ingress. As in ingress-nginx, an empty path is "/",
// and every type except Exact is Prefix.
func paths(ingress *networkingv1.Ingress) iter.Seq[rulePath] {
	return func(yield func(rulePath) bool) {
		for i, rule := range ingress.Spec.Rules {
			if rule.HTTP == nil {
				continue
			}
			host := rule.Host
			if host == "" {
				host = DefaultServerName
			}
			for j, path := range rule.HTTP.Paths {
				key := ruleKey(i) + ".http.paths[" + strconv.Itoa(j) + "]"
				if !yield(rulePath{normal(path), host, key, snapshot.RouteOf(rule.Host, path)}) {
					return
				}
			}
		}
	}
}

// shown quotes a user's text for a message and truncates it to 100 bytes.
func shown(path string) string {
	if len(path) > 100 {
		return strconv.Quote(path[:100]) + "…"
	}
	return strconv.Quote(path)
}

func ruleKey(i int) string { return "spec.rules[" + strconv.Itoa(i) + "]" }

func normal(path networkingv1.HTTPIngressPath) networkingv1.HTTPIngressPath {
	if path.Path == "" {
		path.Path = "/"
	}
	if path.PathType == nil || *path.PathType != networkingv1.PathTypeExact {
		path.PathType = prefix()
	}
	return path
}

func prefix() *networkingv1.PathType { return new(networkingv1.PathTypePrefix) }

func exact() *networkingv1.PathType { return new(networkingv1.PathTypeExact) }

// longestPath is the maximum length of a path in nginx.conf, in bytes. nginx reads a parameter into
// a buffer of 4096 bytes (NGX_CONF_BUFFER).
const longestPath = 4000

// invalidPath returns the reason why a path cannot appear in nginx.conf, or "". All other special
// characters are quoted there.
func invalidPath(path string) string {
	if !strings.HasPrefix(path, "/") {
		return "a path must begin with /"
	}
	if strings.ContainsFunc(path, isControl) {
		return "a path must not contain control characters"
	}
	if len(strconv.Quote(path))+len("{literal_dollar}")*strings.Count(path, "$") > longestPath {
		return "the path is too long for nginx.conf"
	}
	return ""
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
