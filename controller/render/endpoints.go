package render

import "strings"

// ReadsEndpoints tells whether nginx.conf can depend on the endpoints of HTTP
// backends: it does where Lua is not told of them, and where a user's template
// asks for them.
func ReadsEndpoints(in Input) bool {
	return !in.Options.DynamicConfiguration || in.Template != nil && in.Template.mentions("Endpoints")
}

// mentions looks for a field or function of that name, or one with it in its name.
func (t *Template) mentions(name string) bool {
	for _, template := range t.parsed.Templates() {
		if template.Tree != nil && strings.Contains(template.Root.String(), name) {
			return true
		}
	}
	return false
}
