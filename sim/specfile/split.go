package specfile

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

// Split reads the documents of a file as nodes, which have line numbers, and omits empty documents.
func Split(data []byte, found *Problems) []*yaml.Node {
	var documents []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		node := &yaml.Node{}
		err := decoder.Decode(node)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			found.YAML(err, 1)
			return documents
		}
		if root := Resolve(node); root.Kind == yaml.MappingNode || root.Kind == yaml.SequenceNode || root.Value != "" {
			documents = append(documents, node)
		}
	}
}
