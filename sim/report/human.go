package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"windtunnel.dev/sim/measure"
)

// duration formats d with three significant digits, in µs, ms or s.
func duration(d time.Duration) string {
	const almost = 9995 // ten-thousandths of a unit from which three digits are those of the whole unit
	switch {
	case d == 0:
		return "0 s"
	case d.Abs() < almost*time.Millisecond/10_000:
		return digits(float64(d)/float64(time.Microsecond)) + " µs"
	case d.Abs() < almost*time.Second/10_000:
		return digits(float64(d)/float64(time.Millisecond)) + " ms"
	}
	return digits(d.Seconds()) + " s"
}

// digits formats x with three significant digits, or with all digits of its integer part.
func digits(x float64) string {
	for decimals := 2; decimals > 0; decimals-- {
		if text := strconv.FormatFloat(x, 'f', decimals, 64); len(strings.TrimPrefix(text, "-")) <= len("9.99") {
			return text
		}
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

// size formats n bytes in binary units.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	x := float64(n) / 1024
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if x < 1023.5 { // otherwise its digits are 1024
			return digits(x) + " " + unit
		}
		x /= 1024
	}
	return digits(x) + " TiB"
}

// count formats n with thousands separators.
func count(n int) string {
	s := strconv.Itoa(n)
	var groups []string
	for len(s) > 3 && s[len(s)-4] != '-' {
		groups = append([]string{s[len(s)-3:]}, groups...)
		s = s[:len(s)-3]
	}
	return strings.Join(append([]string{s}, groups...), ",")
}

// percent formats a rate of 0 to 1 with two significant digits, or with all digits of its integer
// part, and never with an exponent.
func percent(rate float64) string {
	if 100*rate >= 10 {
		return strconv.FormatFloat(100*rate, 'f', 0, 64) + " %"
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(100*rate, 'g', 2, 64), 64) // has no error: it reads what was formatted
	return strconv.FormatFloat(rounded, 'f', -1, 64) + " %"
}

// Seconds formats a time in seconds as the reports do.
func Seconds(s float64) string { return duration(time.Duration(s * float64(time.Second))) }

// Bytes formats a size in bytes as the reports do.
func Bytes(n float64) string { return size(int64(n)) }

// Value formats the value of a figure of the given kind as the reports do.
func Value(kind measure.Kind, value float64) string {
	switch kind {
	case measure.Time:
		return Seconds(value)
	case measure.Bytes:
		return Bytes(value)
	case measure.Count:
		if value == math.Trunc(value) { // a mean of counts may not be whole
			return count(int(value))
		}
	}
	return digits(value)
}
