package figure

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/specfile"
)

// Condition is a bound of a figure.
type Condition struct {
	Text   string // as written
	Figure Figure
	Sign   string  // < <= > >=
	Bound  float64 // in the unit of the figure
}

var shape = regexp.MustCompile(`^(.+?)\s*(<=|>=|<|>)\s*(\S.*)$`)

// ParseConditions parses conditions that are separated by commas: staleness.p99 < 3s,
// memory.peak < 8Gi. A name may be written as words in the other order: p99 staleness.
func ParseConditions(text string) ([]Condition, error) {
	var all []Condition
	for part := range strings.SplitSeq(text, ",") {
		c, err := parseCondition(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func parseCondition(text string) (Condition, error) {
	parts := shape.FindStringSubmatch(text)
	if parts == nil {
		return Condition{}, fmt.Errorf("%q is not a condition; write a figure, one of < <= > >=, and a bound: staleness.p99 < 3s", text)
	}
	name := nameOf(parts[1])
	f, known := Find(name)
	if !known {
		return Condition{}, fmt.Errorf("unknown figure %s; %s", name, specfile.Choose(name, "figures", Names()))
	}
	bound, err := f.Unit.parse(parts[3])
	if err != nil {
		return Condition{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	return Condition{Text: text, Figure: f, Sign: parts[2], Bound: bound}, nil
}

// nameOf returns the name of a figure that is written as words in the other order.
func nameOf(text string) string {
	words := strings.Fields(text)
	if len(words) == 2 {
		return words[1] + "." + words[0]
	}
	return strings.Join(words, " ")
}

// parse parses a value with a unit.
func (u Unit) parse(text string) (float64, error) {
	text = strings.ReplaceAll(text, " ", "")
	switch u {
	case Seconds:
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, fmt.Errorf("%q is not a duration; write a number with its unit, such as 500ms, 3s or 2m", text)
		}
		return d.Seconds(), nil
	case MiB:
		quantity, err := resource.ParseQuantity(strings.TrimSuffix(text, "B"))
		if err != nil {
			return 0, fmt.Errorf("%q is not an amount of memory; write a number with its unit, such as 512Mi or 8Gi", text)
		}
		return quantity.AsApproximateFloat64() / (1 << 20), nil
	case Share, Count:
	}
	number, percent := text, false
	if u == Share {
		number, percent = strings.CutSuffix(text, "%")
	}
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	if percent {
		value /= 100
	}
	return value, nil
}

// Holds reports whether a value of the figure meets the condition.
func (c Condition) Holds(value float64) bool {
	switch c.Sign {
	case "<":
		return value < c.Bound
	case "<=":
		return value <= c.Bound
	case ">":
		return value > c.Bound
	}
	return value >= c.Bound
}
