package model

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/snapshot"
)

// addPaths adds a location for each path of each rule. The oldest ingress that
// claims a path has it.
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
		return // noted where the server or the backend would have been added
	}
	if reason := invalidPath(path.Path); reason != "" {
		b.denyBeginning(ingress, path, server, reason)
		return
	}
	location := b.location(path.Path, path.PathType, ingress, b.backendOf(ingress, path.Backend.Service))
	b.closePlace(location, path.place)
	b.closeStolen(location, path.Backend.Service)
	i := server.find(path.Path, *path.PathType)
	switch {
	case i < 0:
		server.Locations = append(server.Locations, location)
	case server.Locations[i].IsDefBackend:
		server.Locations[i] = location
	default:
		holder := server.Locations[i].owner()
		b.find(ingress, path.key, "%s %s of %s is already taken by %s; this one is ignored", *path.PathType, path.Path, path.host, holder)
		return
	}
	b.bind(b.backends[location.Backend], ingress, path)
}

// rulePath is a path of a rule with what Kubernetes' defaults make of it.
type rulePath struct {
	networkingv1.HTTPIngressPath
	host  string // "_" for a rule without one
	key   string // where in the ingress
	place snapshot.Place
}

// paths are the paths of all rules of an ingress. An empty path is "/", and
// whatever is not Exact is Prefix, as ingress-nginx has it.
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
				key := fmt.Sprintf("%s.http.paths[%d]", ruleKey(i), j)
				if !yield(rulePath{normal(path), host, key, snapshot.PlaceOf(rule.Host, path)}) {
					return
				}
			}
		}
	}
}

// shown is a path for people to read.
func shown(path string) string {
	if len(path) > 100 {
		return strconv.Quote(path[:100]) + "…"
	}
	return strconv.Quote(path)
}

func ruleKey(i int) string { return fmt.Sprintf("spec.rules[%d]", i) }

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

// longestPath is how long a path may be as it is written in nginx.conf: nginx
// reads one parameter into a buffer of 4096 bytes (NGX_CONF_BUFFER).
const longestPath = 4000

// invalidPath says what keeps a path out of nginx.conf; everything else is
// quoted there.
func invalidPath(path string) string {
	if !strings.HasPrefix(path, "/") {
		return "a path begins with /"
	}
	if strings.ContainsFunc(path, isControl) {
		return "a path has no control characters"
	}
	if len(strconv.Quote(path))+len("{literal_dollar}")*strings.Count(path, "$") > longestPath {
		return "a path this long does not fit into nginx.conf"
	}
	return ""
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
