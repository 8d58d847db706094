package render

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/model"
)

// functions are what templates can call: ingress-nginx's names and meanings.
var functions = template.FuncMap{
	"buildForwardedFor":               buildForwardedFor,
	"buildHTTPListener":               buildHTTPListener,
	"buildHTTPSListener":              buildHTTPSListener,
	"buildLocation":                   buildLocation,
	"buildLuaSharedDictionaries":      buildLuaSharedDictionaries,
	"buildNextUpstream":               buildNextUpstream,
	"buildResolvers":                  buildResolvers,
	"buildServerName":                 buildServerName,
	"buildUpstreamName":               func(l *model.Location) string { return l.Backend },
	"empty":                           empty,
	"escapeLiteralDollar":             escapeLiteralDollar,
	"getIngressInformation":           getIngressInformation,
	"isValidByteSize":                 isValidByteSize,
	"locationConfigForLua":            locationConfigForLua,
	"luaConfigurationRequestBodySize": luaConfigurationRequestBodySize,
	"quote":                           quote,
	"sanitizeQuotedRegex":             sanitizeQuotedRegex,
	"serverConfig":                    func(r root, s *model.Server) any { return served{r, s} },

	// Ours alone.
	"buildStreamListener": buildStreamListener,
	"streamConfig":        func(r root, s model.L4Service) any { return streamed{r, s} },
	"streamUpstreams":     streamUpstreams,
	"hasEndpoints":        hasEndpoints,
	"locationConfig":      func(r root, s *model.Server, l *model.Location) any { return located{r, s, l} },
}

// served is the dot of a server's template.
type served struct {
	First  root
	Second *model.Server
}

// located is the dot of a location's template.
type located struct {
	All      root
	Server   *model.Server
	Location *model.Location
}

func hasEndpoints(backends model.Backends, name string) bool {
	backend := backends.Find(name)
	return backend != nil && len(backend.Endpoints) > 0
}

// empty is true for everything but a string that has a character.
func empty(value any) bool {
	text, ok := value.(string)
	return !ok || text == ""
}

// quote makes one parameter of anything.
func quote(value any) string { return strconv.Quote(fmt.Sprint(value)) }

// escapeLiteralDollar keeps nginx from seeing a variable: it has no escape for
// a dollar, so the template sets a variable that holds one.
func escapeLiteralDollar(value any) string {
	text, _ := value.(string)
	return strings.ReplaceAll(text, "$", "${literal_dollar}")
}

func sanitizeQuotedRegex(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
}

// buildLocation is the matcher of a location.
func buildLocation(location *model.Location, enforceRegex bool) string {
	path := sanitizeQuotedRegex(location.Path)
	switch {
	case enforceRegex:
		return fmt.Sprintf(`~* "^%s"`, path)
	case location.PathType != nil && *location.PathType == networkingv1.PathTypeExact:
		return fmt.Sprintf(`= "%s"`, path)
	}
	return fmt.Sprintf(`"%s"`, path)
}

// buildServerName is a host for server_name. A wildcard stands for one label,
// as the Ingress API has it; nginx's own would stand for many.
func buildServerName(host string) string {
	domain, wild := strings.CutPrefix(host, "*.")
	if !wild {
		return host
	}
	return `~^(?<subdomain>[\w-]+)\.` + strings.ReplaceAll(domain, ".", `\.`) + "$"
}

// buildNextUpstream adds or moves non_idempotent to the end.
func buildNextUpstream(conditions string, retryNonIdempotent bool) string {
	fields := strings.Fields(conditions)
	wanted := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "non_idempotent" })
	if retryNonIdempotent || len(wanted) < len(fields) {
		wanted = append(wanted, "non_idempotent")
	}
	return strings.Join(wanted, " ")
}

func buildForwardedFor(header string) string {
	return "$http_" + strings.ToLower(strings.ReplaceAll(header, "-", "_"))
}

func buildResolvers(servers []string, noIPv6 bool) string {
	if len(servers) == 0 {
		return ""
	}
	line := "resolver"
	for _, server := range servers {
		if strings.Contains(server, ":") {
			server = "[" + server + "]"
		}
		line += " " + server
	}
	line += " valid=30s"
	if noIPv6 {
		line += " ipv6=off"
	}
	return line + ";"
}

var (
	byteSize   = regexp.MustCompile(`^\d+[kKmM]?$`)
	byteOffset = regexp.MustCompile(`^\d+[kKmMgG]?$`)
)

// isValidByteSize tells whether nginx reads value as a size or, with offset, as
// an offset, which may be in gigabytes.
func isValidByteSize(value any, offset bool) bool {
	text, _ := value.(string)
	if offset {
		return byteOffset.MatchString(strings.TrimSpace(text))
	}
	return byteSize.MatchString(strings.TrimSpace(text))
}

func buildLuaSharedDictionaries(config cfg, _ []*model.Server) string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(config.LuaSharedDicts)) {
		fmt.Fprintf(&lines, "lua_shared_dict %s %s;\n", name, dictSize(config.LuaSharedDicts[name]))
	}
	return lines.String()
}

func dictSize(kb int) string {
	if kb%1024 == 0 {
		return fmt.Sprintf("%dM", kb/1024)
	}
	return fmt.Sprintf("%dK", kb)
}

// luaConfigurationRequestBodySize is the largest body that Lua can take: what
// its dictionaries hold and a little more.
func luaConfigurationRequestBodySize(config cfg) string {
	dicts := config.LuaSharedDicts
	return dictSize(max(dicts["configuration_data"], dicts["certificate_data"]) + 1024)
}
