package specfile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
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

// cannotStart is what the YAML library says about a tab in the indentation.
const cannotStart = "found character that cannot start any token"

// YAML adds the problems in an error of the YAML library. Those without a line get the given line.
func (p *Problems) YAML(err error, line int) {
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
		what, mend := p.Types.phrase(parts[2])
		p.Add(at, what, mend)
	}
}

// phrase translates a message of the YAML library into the terms of the file.
func (t Types) phrase(message string) (what, mend string) {
	if m := unknownField.FindStringSubmatch(message); m != nil {
		kind, fields := t.fieldsOf(m[2])
		if parent := t.below(m[2], m[1]); parent != "" {
			return fmt.Sprintf("unknown field %s", m[1]), fmt.Sprintf("indent it below %s (the fields of %s are %s)", parent, kind, strings.Join(slices.Sorted(slices.Values(fields)), ", "))
		}
		return fmt.Sprintf("unknown field %s", m[1]), Choose(m[1], "fields of "+kind, fields)
	}
	if m := wrongType.FindStringSubmatch(message); m != nil {
		wanted, example := t.wantedType(m[3])
		got := "a " + strings.TrimPrefix(m[1], "!!")
		switch m[1] {
		case "!!map":
			got = "a mapping"
		case "!!seq":
			got = "a list"
		case "!!str", "!!int", "!!float", "!!bool":
			got = m[2]
		}
		if digits, cut := strings.CutSuffix(got, "..."); cut && strings.Trim(digits, "-0123456789") == "" && strings.Contains(wanted, "number") {
			return got + " has too many digits", "write fewer"
		}
		return fmt.Sprintf("%s is not %s", got, wanted), "write " + example
	}
	if repeated.MatchString(message) {
		return message, "keep one of the two"
	}
	if what, mend, ok := strings.Cut(message, "; "); ok { // our own
		return what, mend
	}
	if message == cannotStart {
		return "a tab in the indentation, or a text that begins with @, ` or %", "indent with spaces, and quote such a text"
	}
	return message, "fix the YAML"
}

// wantedType describes a Go type of the format to the author of a file, with an example.
func (t Types) wantedType(name string) (wanted, example string) {
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
	case name == "bool":
		return "true or false", "one of the two"
	}
	if _, fields := t.fieldsOf(name); fields != nil {
		return "a mapping", "key: value pairs; the keys are " + strings.Join(fields, ", ")
	}
	return "a mapping", "key: value pairs"
}
