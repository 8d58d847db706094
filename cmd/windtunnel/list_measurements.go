package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"windtunnel.dev/docs"
)

// listMeasurements lists the fields of a subject under the names that expectations use, as
// described by the schema of result.json.
func listMeasurements() ([]entry, error) {
	var schema struct {
		Defs map[string]*definition `json:"$defs"`
	}
	if err := json.Unmarshal(docs.ResultSchema, &schema); err != nil {
		return nil, fmt.Errorf("docs/result.schema.json: %w", err)
	}
	return fieldsOf(schema.Defs, "Subject", "", ""), nil
}

// definition is the part of a JSON Schema that describes a field.
type definition struct {
	Ref         string      `json:"$ref"`
	Type        string      `json:"type"`
	Format      string      `json:"format"`
	Description string      `json:"description"`
	Items       *definition `json:"items"`
	Properties  fields      `json:"properties"`
}

// fieldsOf returns the fields of a type and of its nested types. about describes the type, for
// fields without a description.
func fieldsOf(types map[string]*definition, name, prefix, about string) []entry {
	var all []entry
	for _, field := range types[name].Properties {
		what := cmp.Or(strings.Join(strings.Fields(field.Description), " "), about)
		if inner := strings.TrimPrefix(field.Ref, "#/$defs/"); inner != "" {
			all = append(all, fieldsOf(types, inner, prefix+field.name+".", cmp.Or(field.Description, oneLineOf(types[inner])))...)
			continue
		}
		all = append(all, entry{Name: prefix + field.name, Kind: field.kind(), What: what})
	}
	return all
}

// oneLineOf returns the first sentence of the description of a type.
func oneLineOf(d *definition) string {
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(d.Description), " "), ". ")
	return sentence
}

func (d definition) kind() string {
	switch {
	case d.Format == "nanoseconds":
		return "duration"
	case d.Type == "array" && d.Items != nil:
		return "list"
	case d.Type == "object":
		return "map"
	}
	return d.Type
}

// fields contains the properties of an object, in the order of the file.
type fields []field

type field struct {
	definition
	name string
}

func (f *fields) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	if _, err := decoder.Token(); err != nil { // {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		one := field{name: fmt.Sprint(name)}
		if err := decoder.Decode(&one.definition); err != nil {
			return err
		}
		*f = append(*f, one)
	}
	return nil
}
