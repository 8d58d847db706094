package model

import (
	"regexp"
	"strings"

	"windtunnel.dev/controller/options"
)

// subdomain is the variable with the first label of a request's host, for wildcard hosts.
const subdomain = "subdomain"

func isVariable(name string, further map[string]bool) bool {
	return further[name] || options.IsVariable(name)
}

// reference matches a dollar sign and what nginx reads as the variable after it: the number of a
// capture, a name, or a name in braces.
var reference = regexp.MustCompile(`\$(?:[1-9]|\{(\w+)\}|(\w+)|)`)

// escapeUnknownVariables replaces the dollar sign of each variable that nginx does not know, and
// would reject, by a literal one. It also returns those variables as written.
func escapeUnknownVariables(text string, further map[string]bool) (known string, unknown []string) {
	if !strings.Contains(text, "$") {
		return text, nil
	}
	known = reference.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found[1:], "{}")
		if len(found) == 2 && found[1] >= '1' && found[1] <= '9' || name != "" && isVariable(name, further) {
			return found
		}
		unknown = append(unknown, found)
		return "${literal_dollar}" + found[1:]
	})
	return known, unknown
}

var (
	mentioned = regexp.MustCompile(`\$\{?(\w+)`)
	captured  = regexp.MustCompile(`\(\?P?[<'](\w+)[>']`)
)

// furtherVariables returns the variables of this nginx, those that snippets mention, and may define, and the named
// captures of patterns and wildcard hosts.
func (b *builder) furtherVariables() map[string]bool {
	config := b.options.Config
	further := b.options.FurtherVariables()
	from := func(re *regexp.Regexp, text string) {
		for _, match := range re.FindAllStringSubmatch(text, -1) {
			further[match[1]] = true
		}
	}
	for _, snippet := range []string{config.MainSnippet, config.HTTPSnippet, config.ServerSnippet, config.LocationSnippet} {
		from(mentioned, snippet)
	}
	for _, server := range b.servers {
		from(mentioned, server.ServerSnippet)
		if strings.HasPrefix(server.Hostname, "*.") {
			further[subdomain] = true
		}
		for _, alias := range server.Aliases {
			from(captured, alias)
		}
		for _, location := range server.Locations {
			from(mentioned, location.ConfigurationSnippet)
			if location.isPattern() {
				from(captured, location.Path)
			}
		}
	}
	return further
}
