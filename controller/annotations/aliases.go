package annotations

import "strings"

var (
	hostName   = pattern(`(?:\*\.|\.)?[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]+)*|[A-Za-z0-9_\-]+(?:\.[A-Za-z0-9_\-]+)*\.\*`, "")
	serverName = Want{Text: "a host, which may have * as its first or last label, or ~ and a regular expression", ok: isAlias}
)

// isServerName reports whether nginx's server_name accepts the name.
func isServerName(s string) bool {
	if expression, ok := strings.CutPrefix(s, "~"); ok {
		return expression != "" && Regex.ok(expression)
	}
	return hostName.ok(s)
}

// isAlias also accepts names that nginx accepts but no request contains, such as a URL. As in
// ingress-nginx, they do not reject the ingress.
func isAlias(s string) bool { return isServerName(s) || matchesNoRequest(s) }

// matchesNoRequest reports whether a name is not a pattern and contains characters that hosts never
// contain.
func matchesNoRequest(s string) bool {
	return regexChars.ok(s) && !strings.HasPrefix(s, "~") && !strings.Contains(s, "*") && !strings.Contains(s, "..") &&
		(strings.ContainsAny(s, `/:^$[](){}+?|&=\`) || strings.HasSuffix(s, "."))
}

var aliases = Family{
	Name: "aliases",
	Keys: []Key{
		{Name: "server-alias", Doc: "Additional names of the host; ~ starts a regular expression. Names that no request can have, such as a URL, are left out.", Risk: High, Scope: OfServer, Want: ListOf(serverName), Bad: RejectsAll, Protects: hostAliases},
	},
	parse: func(r *reader, set *Set) { set.Aliases = r.serverNames("server-alias") },
}

// serverNames returns the names in a list that requests can have. Names other than patterns are in
// lower case, like hosts, because nginx ignores their case. A name such as .a.example becomes the
// two names that nginx expands it to, because another host may claim either of them.
func (r *reader) serverNames(name string) []string {
	var good, bad []string
	for _, item := range r.list(name) {
		if !strings.HasPrefix(item, "~") {
			item = strings.ToLower(item)
		}
		if isServerName(item) || r.options.SkipAnnotationValidation && !matchesNoRequest(item) {
			if bare, both := strings.CutPrefix(item, "."); both {
				good = append(good, bare)
				item = "*" + item
			}
			good = append(good, item)
		} else {
			bad = append(bad, shown(item))
		}
	}
	if len(bad) > 0 {
		r.note(name, "want "+serverName.Text+"; left out: "+some(bad))
	}
	return good
}
