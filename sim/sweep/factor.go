package sweep

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"windtunnel.dev/sim/scenario"
)

// Factor is a value of the scenario that a sweep varies.
type Factor struct {
	Path   string   `json:"path"`          // in the scenario's spec, such as population.services
	Values []string `json:"values"`        // in the order in which they were given
	Own    string   `json:"own,omitempty"` // the value in the scenario's file; empty if the file has none
}

// Short returns the shortest part of the path that is clear by itself: services for population.services,
// but traffic.0.rate unchanged.
func (f Factor) Short() string { return short(f.Path) }

// short returns a path without its first part if that is a mapping of the spec.
func short(path string) string {
	first, rest, nested := strings.Cut(path, ".")
	if nested && (first == "population" || first == "config") {
		return rest
	}
	return path
}

// ParseFactor parses PATH=V1,V2,… A value with a comma is quoted, as in config.log-format="a,b",c.
func ParseFactor(text string) (Factor, error) {
	path, list, found := strings.Cut(text, "=")
	path = strings.TrimSpace(path)
	if !found || path == "" {
		return Factor{}, fmt.Errorf("%q is not PATH=V1,V2,…, as in population.services=10,100", text)
	}
	if _, err := scenario.FindPath(path); err != nil {
		return Factor{}, err
	}
	values, err := splitValues(list)
	if err != nil {
		return Factor{}, err
	}
	for i, value := range values {
		if slices.Contains(values[:i], value) {
			return Factor{}, fmt.Errorf("the value %s is given twice", value)
		}
	}
	return Factor{Path: path, Values: values}, nil
}

// splitValues splits a list at its commas, except those between double quotes. It trims blanks around
// values.
func splitValues(list string) ([]string, error) {
	var values []string
	var value strings.Builder
	inQuotes, quoted := false, false
	end := func() error {
		text := value.String()
		if !quoted {
			text = strings.TrimSpace(text)
		}
		if text == "" && !quoted {
			return fmt.Errorf("a value of %q is empty; separate values by one comma, and write \"\" for an empty text", list)
		}
		values = append(values, text)
		value.Reset()
		quoted = false
		return nil
	}
	for _, r := range list {
		switch {
		case r == '"':
			if !quoted && strings.TrimSpace(value.String()) == "" {
				value.Reset() // blanks before the quote
			}
			inQuotes, quoted = !inQuotes, true
		case r == ',' && !inQuotes:
			if err := end(); err != nil {
				return nil, err
			}
		case quoted && !inQuotes && unicode.IsSpace(r):
		default:
			value.WriteRune(r)
		}
	}
	if inQuotes {
		return nil, fmt.Errorf("a quote in %s is not closed", list)
	}
	return values, end()
}
