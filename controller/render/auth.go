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

// shouldApplyGlobalAuth tells whether a location asks the service of
// global-auth-url: it names none of its own and has not opted out.
func shouldApplyGlobalAuth(location *model.Location, globalURL string) bool {
	return location.ExternalAuth.URL == "" && globalURL != "" && location.EnableGlobalAuth
}

// longestEncoded bounds what becomes part of a location's name, which nginx
// reads into a buffer of 4096 bytes.
const longestEncoded = 1000

// buildAuthLocation is the internal location that asks whether a request may
// pass; empty when nobody is asked. Its name has no slash in front, other than
// in ingress-nginx: paths of ingresses and of requests begin with one, so none
// of them can be its name.
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

// shouldApplyAuthUpstream tells whether connections to the service that is
// asked are kept open. nginx's Lua cannot ask within HTTP/2, and a host with
// variables is known too late.
func shouldApplyAuthUpstream(location *model.Location, config *cfg) bool {
	auth := location.ExternalAuth
	return auth.URL != "" && auth.KeepaliveConnections > 0 && !config.UseHTTP2 && !strings.Contains(extractHostPort(auth.URL), "$")
}

// buildAuthUpstreamName is the upstream block of that service.
func buildAuthUpstreamName(location *model.Location, host string) string {
	return host + "-" + strings.TrimPrefix(buildAuthLocation(location, ""), "_")
}

// buildAuthResponseHeaders hands headers of the answer on to the pods:
// auth_request's variables, or with lua those that Lua sets.
func buildAuthResponseHeaders(setHeader string, headers []string, lua bool) []string {
	var lines []string
	for i, header := range headers {
		if !fits(setHeader, header) {
			continue
		}
		variable := fmt.Sprintf("$authHeader%d", i)
		if lua {
			lines = append(lines, fmt.Sprintf("set %s '';", variable))
		} else {
			answered := "$upstream_http_" + strings.ToLower(strings.ReplaceAll(header, "-", "_"))
			lines = append(lines, fmt.Sprintf("auth_request_set %s %s;", variable, answered))
		}
		lines = append(lines, fmt.Sprintf("%s '%s' %s;", setHeader, headerName(setHeader, header), variable))
	}
	return lines
}

func buildAuthUpstreamLuaHeaders(headers []string) string { return strings.Join(headers, ",") }

// buildAuthProxySetHeaders sets headers of the question.
func buildAuthProxySetHeaders(headers map[string]string) []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines = append(lines, fmt.Sprintf("proxy_set_header %s %s;", quote(name), quote(headers[name])))
	}
	return lines
}
