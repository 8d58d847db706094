package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/model"
)

// information identifies the ingress of a location, for logs and Lua.
type information struct {
	Namespace   string
	Rule        string // name of the ingress
	Service     string
	ServicePort string
	Path        string
	Annotations map[string]string
}

// getIngressInformation returns the service of an ingress for a host and path, or else its default
// backend.
func getIngressInformation(ingress *model.Ingress, host, path string) information {
	if path == "" {
		path = "/"
	}
	if ingress == nil {
		return information{Path: path}
	}
	info := information{Namespace: ingress.Namespace, Rule: ingress.Name, Path: path, Annotations: ingress.Annotations}
	service := serviceOf(ingress.Ingress, host, path)
	if service == nil && ingress.Spec.DefaultBackend != nil {
		service = ingress.Spec.DefaultBackend.Service
	}
	if service != nil {
		port := model.ServicePort(service)
		info.Service, info.ServicePort = service.Name, port.String()
	}
	return info
}

func serviceOf(ingress *networkingv1.Ingress, host, path string) *networkingv1.IngressServiceBackend {
	if host == model.DefaultServerName {
		host = ""
	}
	for _, rule := range ingress.Spec.Rules {
		if rule.Host != host || rule.HTTP == nil {
			continue
		}
		for _, p := range rule.HTTP.Paths {
			if p.Path == path || p.Path == "" && path == "/" {
				return p.Backend.Service
			}
		}
	}
	return nil
}

// locationConfigForLua sets the variables that control Lua's redirects.
func locationConfigForLua(location *model.Location, all *root) string {
	lines := make([]byte, 0, 256)
	for _, flag := range [...]struct {
		name string
		on   bool
	}{
		{"force_ssl_redirect", location.Rewrite.ForceSSLRedirect},
		{"ssl_redirect", location.Rewrite.SSLRedirect},
		{"force_no_ssl_redirect", isLocationInLocationList(location, all.Cfg.NoTLSRedirectLocations)},
		{"preserve_trailing_slash", location.Rewrite.PreserveTrailingSlash},
		{"use_port_in_redirects", location.UsePortInRedirects},
	} {
		lines = append(append(append(lines, "set $"...), flag.name...), ` "`...)
		lines = append(strconv.AppendBool(lines, flag.on), "\";\n"...)
	}
	return string(lines)
}

// buildLocation returns the modifier and path of a location block.
func buildLocation(location *model.Location, enforceRegex bool) string {
	path := sanitizeQuotedRegex(location.Path)
	switch {
	case enforceRegex:
		return fmt.Sprintf(`~* "%s"`, sanitizeQuotedRegex(limited("^"+location.Path)))
	case location.PathType != nil && *location.PathType == networkingv1.PathTypeExact:
		return fmt.Sprintf(`= "%s"`, path)
	}
	return fmt.Sprintf(`"%s"`, path)
}

// enforceRegexModifier reports whether the locations of a server are regular expressions. If one
// is, all must be, because nginx prefers regular expressions to other locations.
func enforceRegexModifier(locations []*model.Location) bool {
	return slices.ContainsFunc(locations, func(l *model.Location) bool { return l.Rewrite.UseRegex || rewrites(l) })
}

// rewrites reports whether the location replaces the path. As in ingress-nginx, it does not if the
// target is the location's own path. If a prefix "/p" has this target, the location "/p" does not,
// but "/p/" does.
func rewrites(location *model.Location) bool {
	return location.Rewrite.Target != "" && location.Rewrite.Target != location.Path
}

func isLocationAllowed(location *model.Location) bool { return location.Denied == nil }

// isLocationInLocationList reports whether a location's path begins with one of the prefixes, which
// are separated by commas.
func isLocationInLocationList(location *model.Location, prefixes string) bool {
	for prefix := range strings.SplitSeq(prefixes, ",") {
		if prefix = strings.TrimSpace(prefix); prefix != "" && strings.HasPrefix(location.Path, prefix) {
			return true
		}
	}
	return false
}
