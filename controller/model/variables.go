package model

import (
	"maps"
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
// would reject, by a literal dollar sign. It also returns those variables as written.
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

// knownVariables returns the variables of this nginx, and those that the ConfigMap's snippets
// mention and so may define.
func knownVariables(opts options.Options) map[string]bool {
	config := opts.Config
	known := opts.FurtherVariables()
	for _, snippet := range []string{config.MainSnippet, config.HTTPSnippet, config.ServerSnippet, config.LocationSnippet} {
		addNames(known, mentioned, snippet)
	}
	return known
}

// definedVariables returns the variables that the part's snippets mention and so may define, and
// the named captures of its patterns and wildcard hosts.
func (b *builder) definedVariables() map[string]bool {
	defined := make(map[string]bool)
	for _, server := range b.servers {
		addNames(defined, mentioned, server.ServerSnippet)
		if strings.HasPrefix(server.Hostname, "*.") {
			defined[subdomain] = true
		}
		for _, alias := range server.Aliases {
			addNames(defined, captured, alias)
		}
		for _, location := range server.Locations {
			addNames(defined, mentioned, location.ConfigurationSnippet)
			if location.isPattern() {
				addNames(defined, captured, location.Path)
			}
		}
	}
	return defined
}

func addNames(names map[string]bool, re *regexp.Regexp, text string) {
	for _, match := range re.FindAllStringSubmatch(text, -1) {
		names[match[1]] = true
	}
}

// furtherVariables returns the variables that texts can refer to besides nginx's usual ones.
func (b *builder) furtherVariables(defined map[string]bool) map[string]bool {
	if len(defined) == 0 {
		return b.known
	}
	further := maps.Clone(b.known)
	maps.Copy(further, defined)
	return further
}
