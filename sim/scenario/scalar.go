package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Rate is a number per second. Files write it as 5/s, 300/m or 18000/h.
type Rate float64

var perSecond = map[string]float64{"s": 1, "m": 60, "h": 3600}

// ParseRate parses a rate in the format of scenario files.
func ParseRate(text string) (Rate, error) {
	count, unit, _ := strings.Cut(text, "/")
	seconds, known := perSecond[unit]
	number, err := strconv.ParseFloat(count, 64)
	rate := Rate(number / seconds)
	if !known || err != nil || !(rate > 0) {
		return 0, fmt.Errorf("%q is not a rate; write a number above 0 and a unit, such as 5/s, 300/m or 10/h", text)
	}
	if rate > MostRate || rate < LeastRate {
		return 0, fmt.Errorf("the rate %q is out of bounds; write one between 1 in 31 days and %v", text, MostRate)
	}
	return rate, nil
}

// String returns the rate in the format of scenario files.
func (r Rate) String() string {
	return strconv.FormatFloat(float64(r), 'f', -1, 64) + "/s"
}

// UnmarshalYAML parses a rate. Its error lets the decoder continue with the rest of the file.
func (r *Rate) UnmarshalYAML(node *yaml.Node) error {
	rate, err := ParseRate(node.Value)
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %v", node.Line, err)}}
	}
	*r = rate
	return nil
}

// MarshalYAML returns the rate in the format of scenario files.
func (r Rate) MarshalYAML() (any, error) { return r.String(), nil }

// Quantity is an amount as Kubernetes writes it, such as 500m or 512Mi.
type Quantity struct{ resource.Quantity }

// UnmarshalYAML parses a quantity above zero.
func (q *Quantity) UnmarshalYAML(node *yaml.Node) error {
	quantity, err := resource.ParseQuantity(node.Value)
	if err != nil || quantity.Sign() <= 0 {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf(
			"line %d: %q is not an amount; write a number above 0 as Kubernetes does, such as 500m for cpu or 512Mi for memory", node.Line, node.Value)}}
	}
	q.Quantity = quantity
	return nil
}

// MarshalYAML returns the quantity in the format of scenario files.
func (q Quantity) MarshalYAML() (any, error) { return q.String(), nil }

// Expectation is a condition over the measurements, in CEL.
type Expectation struct {
	Expression string
	Line       int // in the file, from 1
}

// String returns the condition as written in the file.
func (e Expectation) String() string { return e.Expression }

// UnmarshalYAML reads an expectation and its line.
func (e *Expectation) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf(
			"line %d: an expectation is one expression; write it as text, in quotes if it has a colon or a brace", node.Line)}}
	}
	*e = Expectation{Expression: strings.TrimSpace(node.Value), Line: node.Line}
	return nil
}

// MarshalYAML returns the expectation in the format of scenario files.
func (e Expectation) MarshalYAML() (any, error) { return e.Expression, nil }
