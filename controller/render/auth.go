package render

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
)

// shouldApplyGlobalAuth reports whether a location uses global-auth-url: it has no authentication
// service of its own and has not opted out.
func shouldApplyGlobalAuth(location *model.Location, globalURL string) bool {
	return location.ExternalAuth.URL == "" && globalURL != "" && location.EnableGlobalAuth
}

// longestEncoded is the maximum length of the encoded part of a location's name, in bytes. nginx
// reads a name into a buffer of 4096 bytes.
const longestEncoded = 1000

// buildAuthLocation returns the name of the internal location for external authentication, or "" if
// there is none. Unlike in ingress-nginx, the name has no leading slash. Paths of ingresses and
// requests always have one, so they never equal the name.
func buildAuthLocation(location *model.Location, globalURL string) string {
	if location.ExternalAuth.URL == "" && !shouldApplyGlobalAuth(location, globalURL) {
		return ""
	}
	path := base64.RawURLEncoding.EncodeToString([]byte(location.Path))
	if len(path) > longestEncoded {
		sum := sha256.Sum256([]byte(location.Path))
		path = hex.EncodeToString(sum[:])
	}
	kind := "default"
	if location.PathType != nil {
		kind = string(*location.PathType)
	}
	return fmt.Sprintf("_external-auth-%s-%s", path, kind)
}

// shouldApplyAuthUpstream reports whether connections to the authentication service are kept alive.
// That is impossible with HTTP/2, for which nginx's Lua cannot send subrequests, and for a host
// with variables, which is unknown when nginx starts.
func shouldApplyAuthUpstream(location *model.Location, config *cfg) bool {
	auth := location.ExternalAuth
	return auth.URL != "" && auth.KeepaliveConnections > 0 && !config.UseHTTP2 && !strings.Contains(extractHostPort(auth.URL), "$")
}

// buildAuthUpstreamName returns the name of the service's upstream block.
func buildAuthUpstreamName(location *model.Location, host string) string {
	return host + "-" + strings.TrimPrefix(buildAuthLocation(location, ""), "_")
}

// buildAuthResponseHeaders copies headers of the authentication response to the request to the
// pods. They come from variables of auth_request or, if lua is true, from variables that Lua sets.
func buildAuthResponseHeaders(setHeader string, headers []string, lua bool) []string {
	var lines []string
	for i, header := range headers {
		variable := fmt.Sprintf("$authHeader%d", i)
		if lua {
			lines = append(lines, fmt.Sprintf("set %s '';", variable)) // Lua sets all of them
		} else {
			answered := "$upstream_http_" + strings.ToLower(strings.ReplaceAll(header, "-", "_"))
			lines = append(lines, fmt.Sprintf("auth_request_set %s %s;", variable, answered))
		}
		if fits(setHeader, header) {
			lines = append(lines, fmt.Sprintf("%s '%s' %s;", setHeader, headerName(setHeader, header), variable))
		}
	}
	return lines
}

func buildAuthUpstreamLuaHeaders(headers []string) string { return strings.Join(headers, ",") }

// buildAuthProxySetHeaders sets headers of the request to the authentication service.
func buildAuthProxySetHeaders(headers map[string]string) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines = append(lines, fmt.Sprintf("proxy_set_header %s %s;", quote(name), quote(headers[name])))
	}
	return lines
}
