package plan

import (
	"strings"

	"windtunnel.dev/controller/conf"
)

// These shared dictionaries store the data sent to Lua.
const (
	backendsDict     = "configuration_data"
	streamDict       = "tcp_udp_configuration_data"
	certificatesDict = "certificate_data"
	serversDict      = "certificate_servers"
)

// dicts are the lines of nginx.conf that declare shared dictionaries, by name.
type dicts map[string]string

func dictsOf(text conf.Text) dicts {
	const directive = "lua_shared_dict "
	all := make(dicts)
	for line := range text.LinesWith([]byte(directive)) {
		name, _, _ := strings.Cut(string(line[len(directive):]), " ")
		if _, known := all[name]; !known {
			all[name] = string(line)
		}
	}
	return all
}

// lostDicts returns a function that reports whether a reload empties a shared dictionary. nginx
// keeps the content only if the size stays the same, which is unknown after a reload that failed
// halfway.
func lostDicts(running, next State) func(name string) bool {
	if running.Unsure {
		return func(string) bool { return true }
	}
	old, now := conf.Differing(running.Conf, next.Conf)
	before, after := dictsOf(old), dictsOf(now)
	return func(name string) bool { return before[name] != after[name] }
}
