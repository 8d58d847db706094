package render

import "strings"

// ReadsEndpoints reports whether nginx.conf can depend on the endpoints of HTTP backends: either
// Lua does not receive them, or a user's template reads them.
func ReadsEndpoints(in Input) bool {
	return !in.Options.DynamicConfiguration || in.Template != nil && in.Template.mentions("Endpoints")
}

// mentions reports whether the template uses a field or function whose name contains name.
func (t *Template) mentions(name string) bool {
	for _, template := range t.parsed.Templates() {
		if template.Tree != nil && strings.Contains(template.Root.String(), name) {
			return true
		}
	}
	return false
}
