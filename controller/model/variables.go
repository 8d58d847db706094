package model

import (
	"regexp"
	"strings"

	"windtunnel.dev/controller/options"
)

func isVariable(name string, further map[string]bool) bool {
	return further[name] || options.IsVariable(name)
}

// reference is a dollar and what nginx takes for its variable: a capture's
// number, a name, or a name in braces.
var reference = regexp.MustCompile(`\$(?:[1-9]|\{(\w+)\}|(\w+)|)`)

// withKnownVariables has a dollar for each dollar that nginx would take for a
// variable it does not have, and would refuse: those, as they were written.
func withKnownVariables(text string, further map[string]bool) (known string, unknown []string) {
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

// furtherVariables are those that snippets mention, which may define them, and
// the captures that patterns name.
func (b *builder) furtherVariables() map[string]bool {
	config := b.options.Config
	further := make(map[string]bool)
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
