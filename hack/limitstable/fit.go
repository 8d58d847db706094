package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"windtunnel.dev/internal/markdown"
)

// fit returns the line y = base + slope·x through points, by least squares; ok is false if they have
// fewer than two different x.
func fit(x, y []float64) (base, slope float64, ok bool) {
	var sumX, sumY float64
	for i := range x {
		sumX, sumY = sumX+x[i], sumY+y[i]
	}
	n := float64(len(x))
	var above, below float64
	for i := range x {
		above += (x[i] - sumX/n) * (y[i] - sumY/n)
		below += (x[i] - sumX/n) * (x[i] - sumX/n)
	}
	if len(x) < 2 || below == 0 {
		return 0, 0, false
	}
	slope = above / below
	return sumY/n - slope*sumX/n, slope, true
}

// number returns a number with three significant digits if it is computed from a fit, and with commas.
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

// kib returns a size as nginx's settings have it.
func kib(bytes float64) string {
	switch {
	case bytes >= 1<<20 && math.Mod(bytes, 1<<20) == 0:
		return fmt.Sprintf("%.0f MiB", bytes/(1<<20))
	case math.Mod(bytes, 1<<10) == 0:
		return fmt.Sprintf("%.0f KiB", bytes/(1<<10))
	}
	return number(bytes, false) + " bytes"
}

// code returns a text of a log for a cell of a table.
func code(text string) string { return strings.ReplaceAll(markdown.Code(text), "|", `\|`) }
