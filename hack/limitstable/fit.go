package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"windtunnel.dev/internal/markdown"
)

// fit returns the line y = base + slope·x through points, by least squares; ok is false if they have
// fewer than two different x.
func fit(x, y []float64) (base, slope float64, ok bool) {
	if len(x) < 2 || slices.Min(x) == slices.Max(x) {
		return 0, 0, false
	}
	base, slope = stat.LinearRegression(x, y, nil, false)
	return base, slope, true
}

// median returns the median of durations, in seconds.
func median(all []time.Duration) float64 {
	var seconds []float64
	for _, took := range all {
		seconds = append(seconds, took.Seconds())
	}
	slices.Sort(seconds)
	return stat.Quantile(0.5, stat.LinInterp, seconds, nil)
}

// number formats an integer with thousands separators. If it is computed from a fit, it has three
// significant digits.
func number(value float64, computed bool) string {
	if computed && value != 0 {
		unit := math.Pow(10, math.Floor(math.Log10(math.Abs(value)))-2)
		value = math.Round(value/max(unit, 1)) * max(unit, 1)
	}
	digits := strconv.FormatFloat(math.Round(value), 'f', 0, 64)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// kib formats a size in bytes in the largest of MiB, KiB and bytes that divides it.
func kib(bytes float64) string {
	switch {
	case bytes >= 1<<20 && math.Mod(bytes, 1<<20) == 0:
		return fmt.Sprintf("%.0f MiB", bytes/(1<<20))
	case math.Mod(bytes, 1<<10) == 0:
		return fmt.Sprintf("%.0f KiB", bytes/(1<<10))
	}
	return number(bytes, false) + " bytes"
}

// code formats a text of a log as code in a table cell.
func code(text string) string { return strings.ReplaceAll(markdown.Code(text), "|", `\|`) }
