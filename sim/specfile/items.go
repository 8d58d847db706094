package specfile

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// items returns the documents, with each list replaced by its items. A list is of kind List, as
// kubectl writes it, or of one kind, as an API server returns it. Items of the latter may lack a
// kind; they get that of the list.
func items(documents []*yaml.Node) []*yaml.Node {
	var all []*yaml.Node
	for _, document := range documents {
		at := Position{document}
		kind, isList := strings.CutSuffix(at.Text("kind"), "List")
		_, list := at.Find("items")
		if !isList || list.Kind != yaml.SequenceNode {
			all = append(all, document)
			continue
		}
		for _, item := range list.Content {
			if item = Resolve(item); kind != "" && item.Kind == yaml.MappingNode && (Position{item}).Text("kind") == "" {
				item.Content = append(item.Content, text("kind"), text(kind), text("apiVersion"), text(at.Text("apiVersion")))
			}
			all = append(all, item)
		}
	}
	return all
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}
