package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/measure"
)

// readBudget parses an amount in the unit of the figure, or a share of base.
func readBudget(name, text string) (compare.Budget, error) {
	figures := measure.Figures()
	i := slices.IndexFunc(figures, func(f measure.Figure) bool { return f.Name == name })
	if i < 0 {
		return compare.Budget{}, compare.UnknownFigure(name)
	}
	if digits, share := strings.CutSuffix(text, "%"); share {
		number, err := strconv.ParseFloat(digits, 64)
		if err != nil || !notNegative(number) {
			return compare.Budget{}, fmt.Errorf("%s=%s: want a number of 0 or more before the %%", name, text)
		}
		return compare.Budget{Rel: number / 100}, nil
	}
	more, example := readAmount(figures[i].Kind, text)
	if example != "" {
		return compare.Budget{}, fmt.Errorf("%s=%s: want 0 or more, such as %s, or a number with %%", name, text, example)
	}
	return compare.Budget{More: more}, nil
}

// readAmount reads what figures of a kind are measured in: seconds, bytes or
// plain numbers. Where it is none of 0 or more, it says what one looks like.
func readAmount(kind measure.Kind, text string) (amount float64, example string) {
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

// notNegative is also false for NaN.
func notNegative(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }
