package render

import (
	"bytes"
	"sync"
	"text/template/parse"
)

// sameForMany are the templates whose dot is equal for many servers or locations: the root, an
// audience or a proxied. Each rendering executes them once per dot; see once.
var sameForMany = map[string]bool{
	"address.tmpl": true, "blocked.tmpl": true, "certificate": true, "internal.tmpl": true, "phases.tmpl": true, "unwatched.tmpl": true,
	"asked.tmpl": true, "client.tmpl": true,
	"proxy.tmpl": true, "requestheaders.tmpl": true, "responseheaders.tmpl": true,
}

// once replaces {{ template "file" dot }} by {{ text "file" dot }} for the templates in sameForMany, and
// by {{ located "file" dot }} for parts of servers.
func once(list *parse.ListNode) {
	if list == nil {
		return
	}
	for i, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.TemplateNode:
			_, isPart := partOf(node.Name)
			switch {
			case sameForMany[node.Name]:
				list.Nodes[i] = callOf(node, "text")
			case isPart:
				list.Nodes[i] = callOf(node, "located")
			}
		case *parse.IfNode:
			onceInBranches(&node.BranchNode)
		case *parse.RangeNode:
			onceInBranches(&node.BranchNode)
		case *parse.WithNode:
			onceInBranches(&node.BranchNode)
		}
	}
}

func onceInBranches(node *parse.BranchNode) {
	once(node.List)
	once(node.ElseList)
}

// callOf replaces the execution of a template by a function call with the file and the dot.
func callOf(node *parse.TemplateNode, function string) *parse.ActionNode {
	pipe := node.Pipe.CopyPipe()
	file := &parse.StringNode{NodeType: parse.NodeString, Pos: node.Pos, Text: node.Name}
	pipe.Cmds[0].Args = append([]parse.Node{parse.NewIdentifier(function).SetPos(node.Pos), file}, pipe.Cmds[0].Args...)
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: node.Pos, Line: node.Line, Pipe: pipe}
}

// texts caches the texts of templates in sameForMany, and the outlines of others, for one root. The
// zero value is ready to use and safe for concurrent use.
type texts struct {
	known    sync.Map // string by textOf
	outlines outlines
}

type textOf struct {
	template string
	dot      rooted
}

// rooted is the dot of a template in sameForMany. It is comparable.
type rooted interface{ root() *root }

func (r *root) root() *root    { return r }
func (a audience) root() *root { return a.All }

// text executes a template in sameForMany once for each dot.
func (t quickTemplate) text(name string, dot rooted) (string, error) {
	known, key := &dot.root().texts.known, textOf{name, dot}
	if text, ok := known.Load(key); ok {
		return text.(string), nil //nolint:forcetypeassert // see texts
	}
	var text bytes.Buffer
	if err := t.ExecuteTemplate(&text, name, dot); err != nil {
		return "", err
	}
	known.Store(key, text.String())
	return text.String(), nil
}
