package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/measure"
)

// ParseBudget parses the budget of a figure: an amount in the figure's unit, such as 3, 5ms or
// 10Mi, or a share of base, such as 10%.
func ParseBudget(name, text string) (measure.Budget, error) {
	figures := measure.Figures()
	i := slices.IndexFunc(figures, func(f measure.Figure) bool { return f.Name == name })
	if i < 0 {
		return measure.Budget{}, UnknownFigure(name)
	}
	if digits, share := strings.CutSuffix(text, "%"); share {
		number, err := strconv.ParseFloat(digits, 64)
		if err != nil || !notNegative(number) {
			return measure.Budget{}, fmt.Errorf("%s=%s: want a number of 0 or more before the %%", name, text)
		}
		return measure.Budget{Rel: number / 100}, nil
	}
	more, example := parseAmount(figures[i].Kind, text)
	if example != "" {
		return measure.Budget{}, fmt.Errorf("%s=%s: want 0 or more, such as %s, or a number with %%", name, text, example)
	}
	return measure.Budget{More: more}, nil
}

// parseAmount parses a value for a figure of the given kind: a duration, a size or a number. The
// amount is in seconds, bytes or plain numbers. If the text is not a value of 0 or more, example is
// a valid one.
func parseAmount(kind measure.Kind, text string) (amount float64, example string) {
	var err error
	switch kind {
	case measure.Time:
		var d time.Duration
		d, err = time.ParseDuration(text)
		amount, example = d.Seconds(), "5ms"
	case measure.Bytes:
		var q resource.Quantity
		q, err = resource.ParseQuantity(text)
		amount, example = q.AsApproximateFloat64(), "10Mi"
	default:
		amount, err = strconv.ParseFloat(text, 64)
		example = "3"
	}
	if err != nil || !notNegative(amount) {
		return 0, example
	}
	return amount, ""
}

// notNegative reports whether x is finite and at least 0. It is false for NaN.
func notNegative(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
