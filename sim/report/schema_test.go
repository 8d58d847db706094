package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/measure"
)

// docs/result.schema.json and docs/result.md match the types from which result.json is written.
func TestResultSchema(t *testing.T) {
	folders := []string{"../event", "../measure", "../expect", "../judge", "."}
	all := schematest.Result(t, "windtunnel.dev/sim/report", folders, nil).Reflect(&Document{})
	schematest.Schema{File: "result.schema.json", Title: "Windtunnel result"}.CheckResult(t, all, "../../docs")
	golden.Check(t, "../../docs/result.md", reference(all))
}

// reference returns the schema as a page for readers: a table per type, in the order of first use.
func reference(all *jsonschema.Schema) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, `# result.json

This file contains what one run measured. `+"`windtunnel run`"+` writes it, and
`+"`windtunnel compare`"+` reads it.

The field `+"`schema`"+` names the version, %s. Within a version, fields may be
added, but none is removed or changes its meaning; programs should ignore unknown fields. Durations
and times are integers in nanoseconds, times count from the start of the run, and sizes are in
bytes. Expectations use everything below subjects[], by the same names.

*A test writes this page and the JSON Schema [result.schema.json](result.schema.json) from the Go
types of the package sim/measure.*
`, measure.Schema)
	seen := map[string]bool{}
	var describe func(name string)
	describe = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		definition := all.Definitions[name]
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", title(name), wrap(cell(definition.Description)))
		var next []string
		for field := definition.Properties.Oldest(); field != nil; field = field.Next() {
			kind, inner := kindOf(field.Value)
			fmt.Fprintf(&out, "| `%s` | %s | %s |\n", field.Key, kind, cell(field.Value.Description))
			if inner != "" {
				next = append(next, inner)
			}
		}
		for _, inner := range next {
			describe(inner)
		}
	}
	describe("Document")
	return out.Bytes()
}

// wrap breaks text into lines of at most 100 characters.
func wrap(text string) string {
	var out strings.Builder
	width := 0
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case width+1+n > 100:
			out.WriteString("\n")
			width = 0
		default:
			out.WriteString(" ")
			width++
		}
		out.WriteString(word)
		width += n
	}
	return out.String()
}

func title(name string) string {
	if name == "Document" {
		return "result.json"
	}
	return name
}

// kindOf returns the kind of a field, and the name of the nested type if it has one.
func kindOf(field *jsonschema.Schema) (kind, inner string) {
	switch {
	case field.Ref != "":
		inner = strings.TrimPrefix(field.Ref, "#/$defs/")
		return fmt.Sprintf("[%s](#%s)", inner, strings.ToLower(inner)), inner
	case field.Type == "array":
		kind, inner = kindOf(field.Items)
		return "list of " + kind, inner
	case field.AdditionalProperties != nil && field.Type == "object":
		kind, inner = kindOf(field.AdditionalProperties)
		return "map to " + kind, inner
	case field.Format != "":
		return field.Format, ""
	}
	return field.Type, ""
}

func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
