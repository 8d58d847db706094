package scenario

import "go.yaml.in/yaml/v3"

// place finds where in a file things stand.
type place struct{ root *yaml.Node }

// find follows a path: keys of mappings (string) and indices of lists (int). It
// returns the last thing on the path that is there, with its line, and an empty
// node when that is not the path's end.
func (p place) find(path ...any) (line int, node *yaml.Node) {
	node = resolve(p.root)
	line = node.Line
	for _, name := range path {
		key, value := child(node, name)
		if value == nil {
			return line, &yaml.Node{}
		}
		line, node = key.Line, resolve(value)
	}
	return line, node
}

// line is the line of what the path leads to, or of the last thing on it that
// is there.
func (p place) line(path ...any) int {
	line, _ := p.find(path...)
	return line
}

// text is the scalar that the path leads to, empty where there is none.
func (p place) text(path ...any) string {
	if _, node := p.find(path...); node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return ""
}

// child returns the node that a problem with the named child is shown at, and
// the child itself.
func child(node *yaml.Node, name any) (shown, value *yaml.Node) {
	switch name := name.(type) {
	case string:
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				return node.Content[i], node.Content[i+1]
			}
		}
	case int:
		if node.Kind == yaml.SequenceNode && name < len(node.Content) {
			return node.Content[name], node.Content[name]
		}
	}
	return nil, nil
}

// emptyItems are the lines of the list items that say nothing. The decoder
// would leave them out in silence.
func emptyItems(node *yaml.Node) []int {
	var lines []int
	for _, item := range node.Content {
		if node.Kind == yaml.SequenceNode && item.ShortTag() == "!!null" {
			lines = append(lines, item.Line)
		}
		lines = append(lines, emptyItems(item)...)
	}
	return lines
}

// resolve looks through what wraps a node: the document, and aliases.
func resolve(node *yaml.Node) *yaml.Node {
	for {
		switch {
		case node.Kind == yaml.DocumentNode && len(node.Content) > 0:
			node = node.Content[0]
		case node.Kind == yaml.AliasNode && node.Alias != nil:
			node = node.Alias
		default:
			return node
		}
	}
}
