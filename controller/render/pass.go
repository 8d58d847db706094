package render

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
)

// balancer is the name of the upstream block whose peers Lua chooses.
const balancer = "upstream_balancer"

// buildProxyPass returns the directives that pass a location's requests to Lua's balancer, with the
// rewritten path.
func buildProxyPass(_ string, backends model.Backends, location *model.Location) string {
	return passTo(balancer, backends, location)
}

func passTo(upstream string, backends model.Backends, location *model.Location) string {
	pass := passDirective(upstream, backends, location)
	if !rewrites(location) {
		return pass
	}
	prefix := ""
	if location.XForwardedPrefix != "" {
		directive := proxySetHeader(location)
		if strings.HasPrefix(pass, "fastcgi") {
			directive = fastCGIParameter
		}
		prefix = fmt.Sprintf("%s %s %s;\n", directive, headerName(directive, "X-Forwarded-Prefix"), quote(location.XForwardedPrefix))
	}
	return fmt.Sprintf("\nrewrite \"%s\" %s break;\n%s%s",
		sanitizeQuotedRegex(limited("(?i)"+location.Path)), parameter(location.Rewrite.Target), prefix, pass)
}

func passDirective(upstream string, backends model.Backends, location *model.Location) string {
	protocol := strings.ToUpper(location.BackendProtocol)
	backend := backends.Find(location.Backend)
	switch {
	case location.Backend == model.DefaultBackendName:
		protocol = "HTTP" // the ingress's protocol applies only to its own service
	case backend != nil && backend.SSLPassthrough && strings.HasPrefix(protocol, "GRPC"):
		protocol = "GRPCS"
	case backend != nil && backend.SSLPassthrough:
		protocol = "HTTPS"
	}
	switch protocol {
	case "AUTO_HTTP":
		return fmt.Sprintf("proxy_pass $scheme://%s;", upstream)
	case "HTTPS":
		return fmt.Sprintf("proxy_pass https://%s;", upstream)
	case "GRPC":
		return fmt.Sprintf("grpc_pass grpc://%s;", upstream)
	case "GRPCS":
		return fmt.Sprintf("grpc_pass grpcs://%s;", upstream)
	case "FCGI":
		return fmt.Sprintf("fastcgi_pass %s;", upstream)
	}
	return fmt.Sprintf("proxy_pass http://%s;", upstream)
}

// proxySetHeader returns the directive that sets a header of requests to the location's pods.
func proxySetHeader(location *model.Location) string {
	if location.BackendProtocol == "GRPC" || location.BackendProtocol == "GRPCS" {
		return "grpc_set_header"
	}
	return "proxy_set_header"
}

const fastCGIParameter = "fastcgi_param"

// headerName returns a header's name as a directive expects it. FastCGI programs get headers as
// parameters; a parameter that is set replaces the client's header (ngx_http_fastcgi_module).
func headerName(directive, name string) string {
	if directive == fastCGIParameter {
		return "HTTP_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	}
	return name
}

// buildNextUpstream returns the conditions of proxy_next_upstream, with non_idempotent, if wanted,
// at the end.
func buildNextUpstream(conditions string, retryNonIdempotent bool) string {
	fields := strings.Fields(conditions)
	wanted := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "non_idempotent" })
	if retryNonIdempotent || len(wanted) < len(fields) {
		wanted = append(wanted, "non_idempotent")
	}
	return strings.Join(wanted, " ")
}

func hasEndpoints(backends model.Backends, name string) bool {
	backend := backends.Find(name)
	return backend != nil && len(backend.Endpoints) > 0
}
