package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
)

// buildForwardedFor returns the variable that contains a request header.
func buildForwardedFor(header string) string {
	return "$http_" + strings.ToLower(strings.ReplaceAll(header, "-", "_"))
}

func buildResolvers(servers []string, noIPv6 bool) string {
	if len(servers) == 0 {
		return ""
	}
	line := "resolver"
	for _, server := range servers {
		line += " " + formatIP(server)
	}
	line += " valid=30s"
	if noIPv6 {
		line += " ipv6=off"
	}
	return line + ";"
}

func buildLuaSharedDictionaries(config *cfg, _ []*model.Server) string {
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

// luaConfigurationRequestBodySize returns the maximum size of a body that Lua accepts: the size of
// its dictionaries plus 1 MB.
func luaConfigurationRequestBodySize(config *cfg) string {
	dicts := config.LuaSharedDicts
	return dictSize(max(dicts["configuration_data"], dicts["certificate_data"]) + 1024)
}
