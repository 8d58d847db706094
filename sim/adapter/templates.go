package adapter

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"windtunnel.dev/sim/specfile"
)

// templates checks every template of the file: its syntax, and the fields of Data that it names, even
// in branches that no sample takes.
func (c *checker) templates() {
	c.Spec.transform(func(path []any, text string) string {
		c.template(text, reflect.TypeFor[Data](), func(what, mend string) { c.Problem(what, mend, path...) })
		return text
	})
	c.template(c.Flag, reflect.TypeFor[struct{ Name, Value string }](), func(what, mend string) { c.Problem(what, mend, "spec", "flag") })
	for i, m := range c.Manifests {
		if m.Object == nil {
			continue
		}
		expandTexts(m.Object.Object, func(text string) string {
			c.template(text, reflect.TypeFor[Data](), func(what, mend string) { c.ProblemAt(lineOf(specfile.Position{Root: c.nodes[i]}, text), what, mend) })
			return text
		})
	}
}

// lineOf returns the line of the first scalar with this text in a document.
func lineOf(document specfile.Position, text string) int {
	_, root := document.Find()
	for nodes := slices.Clone(root.Content); len(nodes) > 0; nodes = nodes[1:] {
		if nodes[0].Value == text {
			return nodes[0].Line
		}
		nodes = slices.Concat(nodes[:1], specfile.Resolve(nodes[0]).Content, nodes[1:])
	}
	return document.Line()
}

// template checks one template against the type of its data.
func (c *checker) template(text string, over reflect.Type, add func(what, mend string)) {
	if !strings.Contains(text, "{{") {
		return
	}
	parsed, err := parseTemplate(text)
	if err != nil {
		add(fmt.Sprintf("%q is not a template: %v", text, err), "see https://pkg.go.dev/text/template")
		return
	}
	for _, fields := range fieldsOf(parsed.Root) {
		if unknown, known := unknownField(fields, over); unknown != "" {
			add("templates have no "+unknown, specfile.Choose(strings.TrimPrefix(unknown, "."), "fields", known))
		}
	}
}

// fieldsOf returns the fields of the data that a template names: [[Ports HTTP]] for {{.Ports.HTTP}}. It
// skips those within range and with, which rebind the dot.
func fieldsOf(node parse.Node) [][]string {
	if node == nil || reflect.ValueOf(node).IsNil() {
		return nil
	}
	var all [][]string
	add := func(nodes ...parse.Node) {
		for _, one := range nodes {
			all = append(all, fieldsOf(one)...)
		}
	}
	switch node := node.(type) {
	case *parse.ListNode:
		add(node.Nodes...)
	case *parse.ActionNode:
		add(node.Pipe)
	case *parse.PipeNode:
		for _, command := range node.Cmds {
			add(command.Args...)
		}
	case *parse.FieldNode:
		all = append(all, node.Ident)
	case *parse.VariableNode:
		if node.Ident[0] == "$" && len(node.Ident) > 1 {
			all = append(all, node.Ident[1:])
		}
	case *parse.IfNode:
		add(node.Pipe, node.List, node.ElseList)
	case *parse.RangeNode:
		add(node.Pipe, node.ElseList)
	case *parse.WithNode:
		add(node.Pipe, node.ElseList)
	}
	return all
}

// unknownField returns a path of fields up to its first unknown field, such as .Ports.HTP, and the valid
// paths at that point. Both are empty if all fields are known.
func unknownField(fields []string, of reflect.Type) (unknown string, known []string) {
	for i, name := range fields {
		if i == 0 {
			if _, method := of.MethodByName(name); method {
				return "", nil
			}
		}
		if of.Kind() != reflect.Struct {
			return "", nil
		}
		field, found := of.FieldByName(name)
		if !found {
			for field := range of.Fields() {
				known = append(known, strings.Join(append(slices.Clone(fields[:i]), field.Name), "."))
			}
			return "." + strings.Join(fields[:i+1], "."), known
		}
		of = field.Type
	}
	return "", nil
}

// Uses reports whether a template of the adapter names a field of Data, such as Lua.
func (a *Adapter) Uses(field string) bool {
	name := regexp.MustCompile(`\{\{[^}]*\.` + regexp.QuoteMeta(field) + `\b`)
	used := false
	see := func(text string) string {
		used = used || name.MatchString(text)
		return text
	}
	a.Spec.transform(func(_ []any, text string) string { return see(text) })
	for _, m := range a.Manifests {
		expandTexts(m.Object.Object, see)
	}
	return used
}

// isLocated reports whether a path is not relative to the adapter's folder: it is absolute, a template,
// or empty.
func isLocated(path string) bool {
	return path == "" || strings.HasPrefix(path, "/") || strings.HasPrefix(path, "{{")
}
