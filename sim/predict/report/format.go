package report

import (
	"strconv"

	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/report"
)

// Format formats a value.
func Format(unit figure.Unit, value float64) string {
	switch unit {
	case figure.Seconds:
		return report.Seconds(value)
	case figure.MiB:
		return report.Bytes(value * (1 << 20))
	case figure.Share:
		return Percent(value)
	}
	return number(value)
}

// Interval formats the interval of a value.
func Interval(v predict.Value) string {
	low, high := Format(v.Unit, v.Low), Format(v.Unit, v.High)
	if low == high {
		return low
	}
	return low + " – " + high
}

// Percent formats a share.
func Percent(share float64) string {
	switch {
	case share > 0 && share < 0.01:
		return "< 1 %"
	case share < 1 && share > 0.99:
		return "> 99 %"
	}
	return strconv.FormatFloat(100*share, 'f', 0, 64) + " %"
}

// number formats a number with three significant digits, or all digits of its integer part.
func number(x float64) string {
	if x >= 100 || x == float64(int64(x)) {
		return grouped(strconv.FormatFloat(x, 'f', 0, 64))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// grouped adds thousands separators to digits.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
