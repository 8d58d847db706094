package render

import (
	"strings"
	"text/template"

	"windtunnel.dev/controller/model"
)

// functions are the functions that templates can call. Except for the last group, they have
// ingress-nginx's names and meanings. The files are named after what the functions write.
var functions = template.FuncMap{
	// text.go
	"buildDenyVariable":   buildDenyVariable,
	"contains":            strings.Contains,
	"empty":               empty,
	"escapeLiteralDollar": escapeLiteralDollar,
	"formatIP":            formatIP,
	"getenv":              getenv,
	"hasPrefix":           strings.HasPrefix,
	"hasSuffix":           strings.HasSuffix,
	"isValidByteSize":     isValidByteSize,
	"quote":               quote,
	"sanitizeQuotedRegex": sanitizeQuotedRegex,
	"split":               strings.Split,
	"toLower":             strings.ToLower,
	"toUpper":             strings.ToUpper,
	"trimSpace":           strings.TrimSpace,

	// http.go
	"buildForwardedFor":               buildForwardedFor,
	"buildForwardedHost":              buildForwardedFor,
	"buildLuaSharedDictionaries":      buildLuaSharedDictionaries,
	"buildResolvers":                  buildResolvers,
	"luaConfigurationRequestBodySize": luaConfigurationRequestBodySize,

	// listen.go, server.go
	"buildHTTPListener":  buildHTTPListener,
	"buildHTTPSListener": buildHTTPSListener,
	"buildServerName":    buildServerName,
	"serverConfig":       serverConfig,

	// location.go
	"buildLocation":            buildLocation,
	"enforceRegexModifier":     enforceRegexModifier,
	"getIngressInformation":    getIngressInformation,
	"isLocationAllowed":        isLocationAllowed,
	"isLocationInLocationList": isLocationInLocationList,
	"locationConfigForLua":     locationConfigForLua,

	// pass.go
	"buildNextUpstream": buildNextUpstream,
	"buildProxyPass":    buildProxyPass,
	"buildUpstreamName": func(l *model.Location) string { return l.Backend },
	"proxySetHeader":    proxySetHeader,

	// auth.go, authurl.go
	"buildAuthLocation":           buildAuthLocation,
	"buildAuthProxySetHeaders":    buildAuthProxySetHeaders,
	"buildAuthResponseHeaders":    buildAuthResponseHeaders,
	"buildAuthSignURL":            buildAuthSignURL,
	"buildAuthSignURLLocation":    buildAuthSignURLLocation,
	"buildAuthUpstreamLuaHeaders": buildAuthUpstreamLuaHeaders,
	"buildAuthUpstreamName":       buildAuthUpstreamName,
	"changeHostPort":              changeHostPort,
	"extractHostPort":             extractHostPort,
	"shouldApplyAuthUpstream":     shouldApplyAuthUpstream,
	"shouldApplyGlobalAuth":       shouldApplyGlobalAuth,

	// cors.go, customerrors.go, mirror.go, ratelimit.go
	"buildCorsOriginRegex":               buildCorsOriginRegex,
	"buildCustomErrorDeps":               buildCustomErrorDeps,
	"buildCustomErrorLocationsPerServer": buildCustomErrorLocationsPerServer,
	"buildMirrorLocations":               buildMirrorLocations,
	"buildRateLimit":                     buildRateLimit,
	"buildRateLimitZones":                buildRateLimitZones,
	"filterRateLimits":                   filterRateLimits,

	// modules.go
	"buildModSecurityForLocation":   buildModSecurityForLocation,
	"buildOpentelemetry":            buildOpentelemetry,
	"buildOpentelemetryForLocation": buildOpentelemetryForLocation,
	"shouldLoadAuthDigestModule":    shouldLoadAuthDigestModule,
	"shouldLoadModSecurityModule":   shouldLoadModSecurityModule,
	"shouldLoadOpentelemetryModule": shouldLoadOpentelemetryModule,

	// Only our template calls these functions.
	"believedByAuth":      believedByAuth,
	"buildStreamListener": buildStreamListener,
	"comment":             comment,
	"hasEndpoints":        hasEndpoints,
	"inSingleQuotes":      inSingleQuotes,
	"limited":             limited,
	"limitedName":         limitedName,
	"mapKey":              mapKey,
	"parameter":           parameter,
	"proxyBuffers":        proxyBuffers,
	"redirectConfig":      func(r *root, to model.Redirect) any { return redirected{r, to} },
	"streamConfig":        func(r *root, s model.L4Service) any { return streamed{r, s} },
	"streamUpstreams":     streamUpstreams,
	"proxySSL":            proxySSL,
}
