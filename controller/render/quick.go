package render

import (
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

// quick writes the same as ours, in less time.
var quick = func() *template.Template {
	copied, err := ours.parsed.Clone()
	copied.Funcs(template.FuncMap{"text": text(copied), "settings": settings(copied)})
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
	return copied
}()

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
