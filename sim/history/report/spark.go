package report

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"windtunnel.dev/sim/history/trend"
)

// The size of a sparkline, in CSS pixels, and its margin.
const (
	sparkWidth  = 132
	sparkHeight = 30
	sparkMargin = 3
)

// sparkline draws a series: its values as a line, its levels, and its steps for the worse and the
// better.
func sparkline(s trend.Series, commits int) template.HTML {
	low, high := s.Points[0].Value, s.Points[0].Value
	for _, p := range s.Points {
		low, high = min(low, p.Value), max(high, p.Value)
	}
	x := func(commit int) string {
		return pixels(sparkMargin + float64(commit)*(sparkWidth-2*sparkMargin)/float64(max(1, commits-1)))
	}
	y := func(value float64) string {
		share := 0.5
		if high > low {
			share = (value - low) / (high - low)
		}
		return pixels(sparkHeight - sparkMargin - share*(sparkHeight-2*sparkMargin))
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg class="spark" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" aria-hidden="true">`, sparkWidth, sparkHeight)
	for _, l := range s.Levels {
		fmt.Fprintf(&svg, `<path class="level" d="M%s %sH%s"/>`, x(s.Points[l.From].Commit), y(l.Value), x(s.Points[l.To-1].Commit))
	}
	svg.WriteString(`<path d="`)
	for i, p := range s.Points {
		svg.WriteString(ifElse(i == 0, "M", "L") + x(p.Commit) + " " + y(p.Value))
	}
	svg.WriteString(`"/>`)
	for _, step := range s.Steps {
		p := s.Points[step.At]
		fmt.Fprintf(&svg, `<circle class="%s" cx="%s" cy="%s" r="3"/>`, classes[step.Verdict], x(p.Commit), y(p.Value))
	}
	last := s.Points[len(s.Points)-1]
	fmt.Fprintf(&svg, `<circle cx="%s" cy="%s" r="1.5"/></svg>`, x(last.Commit), y(last.Value))
	return template.HTML(svg.String()) // has only numbers and names from this package
}

// classes are the classes of verdicts in the style sheet.
var classes = map[trend.Verdict]string{trend.Worse: "bad", trend.Better: "good", trend.Environment: "none"}

func pixels(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }
