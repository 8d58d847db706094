package behave

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/specfile"
)

// Marshal returns the case as a file. Parse reads that file back to the same case. Cases that are
// equal give the same bytes.
func (c *Case) Marshal() ([]byte, error) {
	file, err := specfile.Marshal(document{APIVersion: APIVersion, Kind: Kind, Spec: c.Spec}, c.Manifests)
	if err != nil {
		return nil, fmt.Errorf("write case %s: %w", c.Name, err)
	}
	return file, nil
}

// The methods below write the forms that the UnmarshalYAML methods and nulls read.

// MarshalYAML writes one text, a list, or null for none.
func (v Values) MarshalYAML() (any, error) {
	switch len(v) {
	case 0:
		return nil, nil
	case 1:
		return v[0], nil
	}
	return []string(v), nil
}

// MarshalYAML writes one status or a list.
func (s Statuses) MarshalYAML() (any, error) {
	if len(s) == 1 {
		return s[0], nil
	}
	return []int(s), nil
}

// MarshalYAML writes a number, or a mapping with min and max.
func (c Count) MarshalYAML() (any, error) {
	if c.Min != nil && c.Max != nil && *c.Min == *c.Max {
		return *c.Min, nil
	}
	type plain Count
	return plain(c), nil
}

// MarshalYAML writes a text, null for an absent one, or a mapping of conditions.
func (m Match) MarshalYAML() (any, error) {
	if m.Absent {
		return nil, nil
	}
	if m.Equals != nil && m.Contains+m.Matches+m.Lacks == "" && m.Values == nil {
		return *m.Equals, nil
	}
	type plain Match
	return plain(m), nil
}

// MarshalYAML writes a step. It also writes a config that is empty but not nil.
func (s Step) MarshalYAML() (any, error) {
	type plain Step
	if s.Config == nil || len(s.Config) > 0 {
		return plain(s), nil
	}
	node := &yaml.Node{}
	if err := node.Encode(plain(s)); err != nil {
		return nil, err
	}
	node.Content = append([]*yaml.Node{{Kind: yaml.ScalarNode, Value: "config"}, {Kind: yaml.MappingNode, Style: yaml.FlowStyle}}, node.Content...)
	return node, nil
}
