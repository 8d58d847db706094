package specfile

import (
	"bytes"
	"errors"
	"io"
	"regexp"

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
			found.YAML(err, aliasLine(data, err))
			return documents
		}
		if !isEmpty(node) {
			documents = append(documents, node)
		}
	}
}

func isEmpty(document *yaml.Node) bool {
	root := Resolve(document)
	return root.Kind != yaml.MappingNode && root.Kind != yaml.SequenceNode && root.Value == ""
}

// skipEmpty reads the empty documents at the beginning of a decoder's data, which Split omits.
func skipEmpty(decoder *yaml.Decoder, data []byte) {
	ahead := yaml.NewDecoder(bytes.NewReader(data))
	for next := (yaml.Node{}); ahead.Decode(&next) == nil && isEmpty(&next); next = (yaml.Node{}) {
		_ = decoder.Decode(&yaml.Node{}) // as ahead did
	}
}

var unknownAnchor = regexp.MustCompile(`unknown anchor '(.*)' referenced`)

// aliasLine returns the line of the alias that an error of the YAML library names without its line, from 1.
// It is 1 for other errors.
func aliasLine(data []byte, err error) int {
	named := unknownAnchor.FindStringSubmatch(err.Error())
	if named == nil {
		return 1
	}
	alias := regexp.MustCompile(`(?m)^[^#\n]*[ \t:,\[{-]\*` + regexp.QuoteMeta(named[1]) + `(?:[\s,\]}]|$)`)
	at := alias.FindIndex(data)
	if at == nil {
		return 1
	}
	return 1 + bytes.Count(data[:at[0]], []byte("\n"))
}
