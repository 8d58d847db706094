package render

import (
	"slices"
	"text/template/parse"
)

// Undefined returns the names of the templates that t includes but does not define, sorted.
func (t *Template) Undefined() []string {
	var names []string
	for _, defined := range t.parsed.Templates() {
		if defined.Tree != nil {
			names = append(names, included(defined.Root)...)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return t.parsed.Lookup(name) != nil })
}

// included returns the names of the templates that a list includes.
func included(list *parse.ListNode) (names []string) {
	if list == nil {
		return nil
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.TemplateNode:
			names = append(names, node.Name)
		case *parse.IfNode:
			names = append(names, includedInBranches(&node.BranchNode)...)
		case *parse.RangeNode:
			names = append(names, includedInBranches(&node.BranchNode)...)
		case *parse.WithNode:
			names = append(names, includedInBranches(&node.BranchNode)...)
		}
	}
	return names
}

func includedInBranches(node *parse.BranchNode) []string {
	return slices.Concat(included(node.List), included(node.ElseList))
}
