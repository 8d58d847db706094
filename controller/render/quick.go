package render

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"windtunnel.dev/controller/model"
)

// embedding are the types with embedded structs that our template reads most, by the names of the fields
// and variables that hold them.
var embedding = map[string]reflect.Type{"cfg": reflect.TypeFor[cfg](), "location": reflect.TypeFor[model.Location]()}

// The files of the templates of servers and locations.
const (
	serverFile   = "server.tmpl"
	locationFile = "location.tmpl"
)

// quickTemplate writes the same as ours, in less time.
type quickTemplate struct{ *template.Template }

var quick = func() quickTemplate {
	copied, err := ours.parsed.Clone()
	t := quickTemplate{copied}
	copied.Funcs(template.FuncMap{"text": t.text, "location": t.location})
	for _, file := range copied.Templates() {
		tree := file.Tree.Copy()
		spellOut(tree.Root)
		once(tree.Root)
		if err == nil {
			_, err = copied.AddParseTree(file.Name(), tree)
		}
	}
	if err != nil {
		panic(err) // cannot happen: nothing has been executed yet
	}
	return t
}()

// writeServer executes the template of a server, or fills its outline.
func (t quickTemplate) writeServer(out *bytes.Buffer, server *served) error {
	unnamed := unnamedServers.Get().(*unnamedServer) //nolint:forcetypeassert // see unnamedServers
	if !unnamed.set(server) {
		unnamedServers.Put(unnamed)
		return t.ExecuteTemplate(out, serverFile, server)
	}
	text, kept, err := t.outline(serverFile, &server.First.texts.servers, &unnamed.served)
	if !kept {
		unnamedServers.Put(unnamed)
	}
	if err != nil {
		return err
	}
	names := server.names()
	return text.fill(out, func(name int) error {
		if name == itsLocations {
			return t.writeLocations(out, server.Locations)
		}
		out.WriteString(*names[name])
		return nil
	})
}

func (t quickTemplate) writeLocations(out *bytes.Buffer, locations []*located) error {
	for i, l := range locations {
		if i > 0 {
			out.WriteByte('\n')
		}
		if err := t.writeLocation(out, l); err != nil {
			return err
		}
	}
	return nil
}

// writeLocation executes the template of a location, or fills its outline.
func (t quickTemplate) writeLocation(out *bytes.Buffer, l *located) error {
	unnamed := unnamedLocations.Get().(*unnamedLocation) //nolint:forcetypeassert // see unnamedLocations
	if !unnamed.set(l) {
		unnamedLocations.Put(unnamed)
		return t.ExecuteTemplate(out, locationFile, l)
	}
	text, kept, err := t.outline(locationFile, &l.All.texts.locations, &unnamed.located)
	if !kept {
		unnamedLocations.Put(unnamed)
	}
	if err != nil {
		return err
	}
	names := l.names()
	return text.fill(out, func(name int) error {
		out.WriteString(*names[name])
		return nil
	})
}

// outline returns the outline of a file for a dot without names; see outlines.find.
func (t quickTemplate) outline(file string, known *outlines, dot any) (found *outline, kept bool, err error) {
	return known.find(dot, func(text *bytes.Buffer) error { return t.ExecuteTemplate(text, file, dot) })
}

// location returns the text of a location.
func (t quickTemplate) location(l *located) (string, error) {
	if l == anyLocations[0] {
		return placeholder(itsLocations), nil
	}
	var text bytes.Buffer
	err := t.writeLocation(&text, l)
	return text.String(), err
}

// spellOut names the embedded struct of each promoted field that a template reads: .Cfg.UseGzip becomes
// .Cfg.Config.UseGzip. text/template finds such a field several times as fast. The template's text stays.
func spellOut(node parse.Node) {
	switch node := node.(type) {
	case *parse.ListNode:
		if node != nil {
			for _, n := range node.Nodes {
				spellOut(n)
			}
		}
	case *parse.ActionNode:
		spellOut(node.Pipe)
	case *parse.TemplateNode:
		spellOut(node.Pipe)
	case *parse.PipeNode:
		if node != nil {
			for _, command := range node.Cmds {
				for _, n := range command.Args {
					spellOut(n)
				}
			}
		}
	case *parse.IfNode:
		spellOutBranches(&node.BranchNode)
	case *parse.RangeNode:
		spellOutBranches(&node.BranchNode)
	case *parse.WithNode:
		spellOutBranches(&node.BranchNode)
	case *parse.FieldNode:
		node.Ident = spelledOut(node.Ident)
	case *parse.VariableNode:
		node.Ident = spelledOut(node.Ident)
	}
}

func spellOutBranches(node *parse.BranchNode) {
	spellOut(node.Pipe)
	spellOut(node.List)
	spellOut(node.ElseList)
}

// spelledOut returns a chain of names, of which the first may be a variable, with embedded structs.
func spelledOut(names []string) []string {
	for i := len(names) - 1; i > 0; i-- {
		owner, ok := embedding[strings.ToLower(strings.TrimPrefix(names[i-1], "$"))]
		if !ok {
			continue
		}
		if field, ok := owner.FieldByName(names[i]); ok && len(field.Index) == 2 {
			names = slices.Insert(slices.Clone(names), i, owner.Field(field.Index[0]).Name)
		}
	}
	return names
}
