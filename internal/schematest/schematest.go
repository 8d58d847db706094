// Package schematest compares the JSON Schemas in docs/ with the Go types from which they are made. Its
// one rule: descriptions are the comments of the types and their fields.
package schematest

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/golden"
)

// site is where the schemas are published.
const site = "https://windtunnel.dev/"

// Schema is a schema in docs/.
type Schema struct {
	File  string // adapter.schema.json
	Title string
}

// Format returns a reflector for the types of a YAML format whose package is in this folder. mapper
// returns the schemas of types that a file writes in another form; nil for others.
func Format(t *testing.T, importPath string, mapper func(reflect.Type) *jsonschema.Schema) *jsonschema.Reflector {
	t.Helper()
	reflector := &jsonschema.Reflector{FieldNameTag: "yaml", RequiredFromJSONSchemaTags: true, Mapper: mapper}
	if err := reflector.AddGoComments(importPath, "."); err != nil {
		t.Fatal(err)
	}
	return reflector
}

// CheckFormat checks the schema of a format whose first document has this apiVersion. Editors check
// each document of a file against the schema, but all documents after the first are Kubernetes manifests.
func (s Schema) CheckFormat(t *testing.T, schema *jsonschema.Schema, apiVersion, docs string) {
	t.Helper()
	properties := jsonschema.NewProperties()
	properties.Set("apiVersion", &jsonschema.Schema{Const: apiVersion})
	schema.If = &jsonschema.Schema{Properties: properties, Required: []string{"apiVersion"}}
	schema.Then = &jsonschema.Schema{Ref: schema.Ref}
	schema.Ref = ""
	s.check(t, schema, docs)
}

// Result returns a reflector for types that are written as JSON and whose packages are in the folders,
// which are relative to this one. mapper is as for Format and may be nil; durations are in nanoseconds.
func Result(t *testing.T, importPath string, folders []string, mapper func(reflect.Type) *jsonschema.Schema) *jsonschema.Reflector {
	t.Helper()
	reflector := &jsonschema.Reflector{AllowAdditionalProperties: true, Mapper: func(of reflect.Type) *jsonschema.Schema {
		if of == reflect.TypeFor[time.Duration]() {
			return &jsonschema.Schema{Type: "integer", Format: "nanoseconds"}
		}
		if mapper == nil {
			return nil
		}
		return mapper(of)
	}}
	for _, folder := range folders {
		if err := reflector.AddGoComments(importPath, folder, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	return reflector
}

// CheckResult checks the schema of a result, in which each field or its type must have a description.
func (s Schema) CheckResult(t *testing.T, schema *jsonschema.Schema, docs string) {
	t.Helper()
	for name, definition := range schema.Definitions {
		for field := definition.Properties.Oldest(); field != nil; field = field.Next() {
			if field.Value.Description == "" && definition.Description == "" {
				t.Errorf("%s of %s has no description", field.Key, name)
			}
		}
	}
	s.check(t, schema, docs)
}

// check compares the schema with its file in the folder docs.
func (s Schema) check(t *testing.T, schema *jsonschema.Schema, docs string) {
	t.Helper()
	schema.ID, schema.Title = jsonschema.ID(site+s.File), s.Title
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, docs+"/"+s.File, append(text, '\n'))
}
