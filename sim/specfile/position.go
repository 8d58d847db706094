package specfile

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// Position finds nodes and their lines in a document.
type Position struct{ Root *yaml.Node }

// Find follows a path of mapping keys (string) and list indices (int). It returns the node at the
// end of the path, with its line. If the path breaks off, it returns the line of the last node that
// exists, and an empty node.
func (p Position) Find(path ...any) (line int, node *yaml.Node) {
	node = Resolve(p.Root)
	line = node.Line
	for _, name := range path {
		key, value := child(node, name)
		if value == nil {
			return line, &yaml.Node{}
		}
		line, node = key.Line, Resolve(value)
	}
	return line, node
}

// Line returns the line of the node at the end of a path, or of the last node on it that exists.
func (p Position) Line(path ...any) int {
	line, _ := p.Find(path...)
	return line
}

// Has reports whether there is a node at the end of a path.
func (p Position) Has(path ...any) bool {
	_, node := p.Find(path...)
	return !node.IsZero()
}

// Text returns the scalar at the end of a path, or "".
func (p Position) Text(path ...any) string {
	if _, node := p.Find(path...); node.Kind == yaml.ScalarNode {
		return node.Value
	}
	return ""
}

// child returns a child by its key or index, and the node at whose line its problems are reported: the
// key in a mapping, or the item of a list.
func child(node *yaml.Node, name any) (shown, value *yaml.Node) {
	switch name := name.(type) {
	case string:
		for _, from := range mappings(node, nil) {
			for i := 0; i+1 < len(from.Content); i += 2 {
				if from.Content[i].Value == name {
					return from.Content[i], from.Content[i+1]
				}
			}
		}
	case int:
		if node.Kind == yaml.SequenceNode && name < len(node.Content) {
			return node.Content[name], node.Content[name]
		}
	}
	return nil, nil
}

// mappings appends a mapping to found, and then the mappings that its merge keys (<<) name. They are in
// order of precedence: the fields of earlier ones override those of later ones.
func mappings(node *yaml.Node, found []*yaml.Node) []*yaml.Node {
	if node = Resolve(node); node.Kind != yaml.MappingNode || slices.Contains(found, node) {
		return found
	}
	found = append(found, node)
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].ShortTag() != "!!merge" {
			continue
		}
		merged := []*yaml.Node{node.Content[i+1]}
		if list := Resolve(merged[0]); list.Kind == yaml.SequenceNode {
			merged = list.Content
		}
		for _, one := range merged {
			found = mappings(one, found)
		}
	}
	return found
}

// EmptyItems returns the lines of empty list items. The decoder would drop them silently.
func EmptyItems(node *yaml.Node) []int {
	var lines []int
	for _, item := range node.Content {
		if node.Kind == yaml.SequenceNode && item.ShortTag() == "!!null" {
			lines = append(lines, item.Line)
		}
		lines = append(lines, EmptyItems(item)...)
	}
	return lines
}

// EmptyFields returns the keys without a value, or with null. The decoder would drop them silently.
func EmptyFields(node *yaml.Node) []*yaml.Node {
	var keys []*yaml.Node
	for i, child := range node.Content {
		if key := i%2 == 0; node.Kind == yaml.MappingNode && key && Resolve(node.Content[i+1]).ShortTag() == "!!null" {
			keys = append(keys, child)
		}
		keys = append(keys, EmptyFields(child)...)
	}
	return keys
}

// Resolve returns the node inside a document node or behind aliases.
func Resolve(node *yaml.Node) *yaml.Node {
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
