package annotations

import "strings"

var (
	hostName   = pattern(`(?:\*\.|\.)?[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]+)*|[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]+)*\.\*`, "")
	serverName = Want{Text: "a host, which may have * as its first or last label, or ~ and a regular expression", ok: isServerName}
)

// isServerName reports whether nginx's server_name accepts the name.
func isServerName(s string) bool {
	if expression, ok := strings.CutPrefix(s, "~"); ok {
		return expression != "" && Regex.ok(expression)
	}
	return hostName.ok(s)
}

var aliases = Family{
	Name: "aliases",
	Keys: []Key{
		{Name: "server-alias", Doc: "Additional names of the host; ~ starts a regular expression.", Risk: High, Scope: OfServer, Want: ListOf(serverName), Bad: RejectsAll, Protects: hostAliases},
	},
	parse: func(r *reader, set *Set) { set.Aliases = r.list("server-alias") },
}
