package behave

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/specfile"
)

// Values are the values of a header: in a file, one text, a list of texts, or null for none.
type Values []string

// Statuses are statuses of which one must be answered: in a file, one number or a list.
type Statuses []int

// Count is a number of answers or lines: in a file, a number, or a mapping with min and max.
type Count struct {
	// The smallest number.
	Min *int `yaml:"min,omitempty"`
	// The largest number.
	Max *int `yaml:"max,omitempty"`
}

// The decoder of the YAML library calls none of the methods below for null.

// UnmarshalYAML reads one text or a list of texts.
func (v *Values) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*v = Values{node.Value}
		return nil
	}
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return malformed(node, "the values of a header are one text or a list", "write the text, or null for none")
	}
	return node.Decode((*[]string)(v))
}

// UnmarshalYAML reads one status or a list.
func (s *Statuses) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*s = make(Statuses, 1)
		return specfile.Decode(node, &(*s)[0])
	}
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return malformed(node, "a status is a number or a list of numbers", "write status: 200, or status: [200, 204]")
	}
	return specfile.Decode(node, (*[]int)(s))
}

// UnmarshalYAML reads a number, or a mapping with min and max.
func (c *Count) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		var n int
		if err := specfile.Decode(node, &n); err != nil {
			return err
		}
		c.Min, c.Max = &n, &n
	} else {
		type plain Count
		if err := decodeMapping(node, "a count", (*plain)(c)); err != nil {
			return err
		}
	}
	switch {
	case c.Max == nil && (c.Min == nil || *c.Min == 0):
		return malformed(node, "every number satisfies this count", "write a number, or min: 1 or more, or max:")
	case c.Min != nil && *c.Min < 0, c.Max != nil && *c.Max < 0:
		return malformed(node, "a count below zero", "make it 0 or more")
	case c.Min != nil && c.Max != nil && *c.Min > *c.Max:
		return malformed(node, fmt.Sprintf("no number is at least %d and at most %d", *c.Min, *c.Max), "swap min and max")
	}
	return nil
}

// UnmarshalYAML reads a text, or a mapping of conditions.
func (m *Match) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*m = Match{Equals: &node.Value}
		return nil
	}
	type plain Match
	if err := decodeMapping(node, "a condition on a text", (*plain)(m)); err != nil {
		return err
	}
	if len(node.Content) == 0 {
		return malformed(node, "a condition that every text satisfies", "write {matches: .} for any text, or null for an absent one")
	}
	for i := 0; i < len(node.Content); i += 2 {
		if value := specfile.Resolve(node.Content[i+1]); node.Content[i].Value != "equals" && value.Value == "" && len(value.Content) == 0 {
			return malformed(value, node.Content[i].Value+": is empty, so every text satisfies it", "fill it in, or remove it")
		}
	}
	return nil
}

// decodeMapping decodes a mapping into a struct. It rejects unknown keys and null, as Parse does
// elsewhere: the decoder of a node cannot.
func decodeMapping(node *yaml.Node, kind string, into any) error {
	fields := specfile.Fields(reflect.TypeOf(into).Elem())
	if node.Kind != yaml.MappingNode {
		return malformed(node, "a list is not "+kind, "write a value, or a mapping; its keys are "+strings.Join(fields, ", "))
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if !slices.Contains(fields, key.Value) {
			return malformed(key, "unknown field "+key.Value, specfile.Choose(key.Value, "fields of "+kind, fields))
		}
		if value.ShortTag() == "!!null" {
			return malformed(key, key.Value+": has no value", "fill it in, or remove it")
		}
	}
	return specfile.Decode(node, into)
}

// malformed returns an error that lets the decoder continue with the rest of the file.
func malformed(node *yaml.Node, what, mend string) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s; %s", node.Line, what, mend)}}
}
