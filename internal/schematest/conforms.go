package schematest

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"testing"
)

// CheckDocument checks that a JSON document has the types and the required fields of a schema in docs. It
// knows only the keywords that our schemas of results use.
func CheckDocument(t *testing.T, schemaFile string, document []byte) {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var root definition
	var value any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(document, &value); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range root.check(root.Definitions, "$", value) {
		t.Error(wrong)
	}
}

// definition is a part of a schema.
type definition struct {
	Ref         string                `json:"$ref"`
	Definitions map[string]definition `json:"$defs"`
	Type        string                `json:"type"`
	Properties  map[string]definition `json:"properties"`
	Required    []string              `json:"required"`
	Items       *definition           `json:"items"`
	OneOf       []definition          `json:"oneOf"`
}

// check returns what is wrong with the value at a place.
func (d definition) check(all map[string]definition, at string, value any) (wrong []string) {
	if d.Ref != "" {
		return all[path.Base(d.Ref)].check(all, at, value)
	}
	if len(d.OneOf) > 0 {
		for _, one := range d.OneOf {
			if wrong = one.check(all, at, value); len(wrong) == 0 {
				return nil
			}
		}
		return wrong
	}
	if got := typeOf(value); d.Type != "" && got != d.Type && (got != "number" || d.Type != "integer") {
		return []string{fmt.Sprintf("%s: %s, want %s", at, got, d.Type)}
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			if d.Items != nil {
				wrong = append(wrong, d.Items.check(all, fmt.Sprintf("%s[%d]", at, i), item)...)
			}
		}
	case map[string]any:
		for _, name := range d.Required {
			if _, ok := value[name]; !ok {
				wrong = append(wrong, fmt.Sprintf("%s: no %s", at, name))
			}
		}
		for name, field := range value {
			wrong = append(wrong, d.Properties[name].check(all, at+"."+name, field)...)
		}
	}
	return wrong
}

// typeOf returns the type of a decoded value, as schemas name it.
func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
