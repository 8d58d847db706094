package sweep

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/specfile"
)

// Set returns the text of a scenario file with another value at a path of its spec. It adds mappings
// that the file lacks, but no items of lists. It does not check that the scenario remains valid.
func Set(text []byte, path, value string) ([]byte, error) {
	at, err := scenario.FindPath(path)
	if err != nil {
		return nil, err
	}
	leaf := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	switch {
	case at.Text:
		leaf.Tag = "!!str"
	case leaf.ShortTag() == "!!null":
		return nil, fmt.Errorf("%s: %q is not a value", path, value)
	}
	documents, err := decode(text)
	if err != nil {
		return nil, err
	}
	if at.Steps[0] == "subjects" && !(specfile.Position{Root: documents[0]}).Has("spec", "subjects", 0) {
		return nil, fmt.Errorf("%s: the scenario lists no subjects: add subjects: [{name: %s}] to its spec", path, scenario.Bundled)
	}
	if err := put(documents[0], append([]any{"spec"}, at.Steps...), leaf); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return encode(documents)
}

// Value returns the value at a path of a scenario's text, or "" if the text has none.
func Value(text []byte, path string) (string, error) {
	at, err := scenario.FindPath(path)
	if err != nil {
		return "", err
	}
	documents, err := decode(text)
	if err != nil {
		return "", err
	}
	return specfile.Position{Root: documents[0]}.Text(append([]any{"spec"}, at.Steps...)...), nil
}

// put sets the node at the end of a path. Aliases on the path become copies: the anchor keeps its value. A
// node with an anchor keeps it.
func put(node *yaml.Node, path []any, leaf *yaml.Node) error {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	for i, step := range path {
		child, err := childOf(node, step)
		if err != nil {
			return err
		}
		if i == len(path)-1 {
			leaf.LineComment, leaf.HeadComment, leaf.FootComment = child.LineComment, child.HeadComment, child.FootComment
			leaf.Anchor = child.Anchor // aliases get the new value
			*child = *leaf
			return nil
		}
		if child.Kind == yaml.AliasNode {
			*child = *copyOf(child.Alias)
		}
		if child.Kind == 0 || child.ShortTag() == "!!null" { // new, or an empty value
			*child = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		}
		node = child
	}
	return nil
}

// childOf returns the child of a node by its key or index. It adds a child that a mapping lacks.
func childOf(node *yaml.Node, step any) (*yaml.Node, error) {
	switch step := step.(type) {
	case string:
		if node.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("%s does not exist: its parent is not a mapping in the scenario", step)
		}
		merged := false
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i+1], nil
			}
			merged = merged || node.Content[i].ShortTag() == "!!merge"
		}
		if merged {
			return nil, fmt.Errorf("the parent of %s is merged from another mapping (<<); write its fields out in the file", step)
		}
		value := &yaml.Node{}
		node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: step}, value)
		return value, nil
	case int:
		items := 0
		if node.Kind == yaml.SequenceNode {
			items = len(node.Content)
		}
		if step >= items {
			return nil, fmt.Errorf("there is no item %d: the list of the scenario's file has %d, counted from 0", step, items)
		}
		return node.Content[step], nil
	}
	return nil, errors.New("a step is a key or an index")
}

// copyOf returns a deep copy of a node without anchors.
func copyOf(node *yaml.Node) *yaml.Node {
	made := *node
	made.Anchor, made.Content = "", nil
	for _, child := range node.Content {
		made.Content = append(made.Content, copyOf(child))
	}
	return &made
}

// decode returns the documents of a file, at least one.
func decode(text []byte) ([]*yaml.Node, error) {
	var documents []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		node := &yaml.Node{}
		err := decoder.Decode(node)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, node)
	}
	if len(documents) == 0 {
		return nil, errors.New("the file is empty")
	}
	return documents, nil
}

func encode(documents []*yaml.Node) ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	for _, document := range documents {
		if err := encoder.Encode(document); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), encoder.Close()
}
