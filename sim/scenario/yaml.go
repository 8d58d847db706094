package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Messages of the YAML library that phrase rewrites in terms of the format.
var (
	atLine       = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)
	unknownField = regexp.MustCompile(`(?s)^field (.*) not found in type (\S+)$`)
	wrongType    = regexp.MustCompile("(?s)^cannot unmarshal (\\S+)(?: `(.*)`)? into (\\S+)$")
	repeated     = regexp.MustCompile(`(?s)^(mapping key .* already defined at line \d+|field .* already set in type .*)$`)
)

// yaml adds the problems in an error of the YAML library. Those without a line get the given line.
func (p *problems) yaml(err error, line int) {
	messages := []string{err.Error()}
	var several *yaml.TypeError
	if errors.As(err, &several) {
		messages = several.Errors
	}
	for _, message := range messages {
		parts := atLine.FindStringSubmatch(message)
		at, err := strconv.Atoi(parts[1])
		if err != nil {
			at = line
		}
		what, mend := phrase(parts[2])
		p.add(at, what, mend)
	}
}

// phrase translates a message of the YAML library into the terms of a scenario file.
func phrase(message string) (what, mend string) {
	if m := unknownField.FindStringSubmatch(message); m != nil {
		kind, fields := fieldsOf(m[2])
		return fmt.Sprintf("unknown field %s", m[1]), choose(m[1], "fields of "+kind, fields)
	}
	if m := wrongType.FindStringSubmatch(message); m != nil {
		wanted, example := wantedType(m[3])
		got := "a " + strings.TrimPrefix(m[1], "!!")
		switch m[1] {
		case "!!map":
			got = "a mapping"
		case "!!seq":
			got = "a list"
		case "!!str", "!!int", "!!float", "!!bool":
			got = m[2]
		}
		return fmt.Sprintf("%s is not %s", got, wanted), "write " + example
	}
	if repeated.MatchString(message) {
		return message, "keep one of the two"
	}
	if what, mend, ok := strings.Cut(message, "; "); ok { // our own
		return what, mend
	}
	return message, "fix the YAML"
}

// wantedType describes a Go type of the format to the author of a file, with an example.
func wantedType(name string) (wanted, example string) {
	switch {
	case name == "time.Duration":
		return "a duration", "a number with its unit, such as 500ms, 20s or 2m"
	case strings.HasPrefix(name, "uint"):
		return "a whole number of 0 or more", "digits, such as 1"
	case strings.HasPrefix(name, "int"):
		return "a whole number", "digits, such as 2"
	case strings.HasPrefix(name, "[]"):
		return "a list", "its items on lines that start with a dash"
	case name == "string":
		return "text", "one value"
	}
	if _, fields := fieldsOf(name); fields != nil {
		return "a mapping", "key: value pairs; the keys are " + strings.Join(fields, ", ")
	}
	return "a mapping", "key: value pairs"
}

// fieldsOf returns the name of a type in messages, and its fields in a file.
func fieldsOf(typeName string) (kind string, fields []string) {
	for _, t := range []reflect.Type{
		reflect.TypeFor[document](), reflect.TypeFor[metadata](), reflect.TypeFor[Spec](), reflect.TypeFor[Subject](), reflect.TypeFor[Resources](),
		reflect.TypeFor[Population](), reflect.TypeFor[Traffic](), reflect.TypeFor[Ramp](), reflect.TypeFor[Sine](), reflect.TypeFor[Step](),
		reflect.TypeFor[Confirmation](), reflect.TypeFor[Comparison](), reflect.TypeFor[Control](),
	} {
		if t.String() != typeName {
			continue
		}
		for i := range t.NumField() {
			if name, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); name != "-" {
				fields = append(fields, name)
			}
		}
		return cmp.Or(map[string]string{"document": "a scenario"}[t.Name()], strings.ToLower(t.Name())), fields
	}
	return typeName, nil
}
