package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/predict/simulate"
)

// plot is a drawing with a line per answer. It is drawn as SVG, so the page needs no script.
type plot struct {
	Title, Caption string
	X, Y           axis
	Lines          []line
	Bounds         []mark // horizontal lines at the bounds of conditions
}

type axis struct {
	Label string
	Ticks []mark
}

// mark is a position in the drawing and its text.
type mark struct {
	At   float64
	Text string
}

type line struct {
	Name   string
	Colour int    // of .l0 to .l5 in the style sheet
	Dashed bool   // another line has the same colour
	Path   string // of SVG
	Area   string // the interval around it; empty: none
}

// The drawing in SVG units: the frame is inside of the margins.
const (
	width, height            = 760.0, 300.0
	left, right, top, bottom = 76.0, 28.0, 28.0, 44.0

	colours   = 6
	mostLines = 2 * colours
	mostTicks = 6
)

// scale maps values to the drawing.
type scale struct {
	low, high float64
	from, to  float64
}

func (s scale) at(x float64) float64 {
	return s.from + (x-s.low)/(s.high-s.low)*(s.to-s.from)
}

// ticks returns round values of the scale, in the unit of a figure.
func (s scale) ticks(unit figure.Unit) []mark {
	var all []mark
	least := (s.high - s.low) / mostTicks
	step := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if step < least {
			step *= factor
		}
	}
	if unit == figure.MiB {
		step = math.Pow(2, math.Ceil(math.Log2(least)))
	}
	for x := math.Ceil(s.low/step) * step; step > 0 && x <= s.high*(1+1e-9); x += step {
		all = append(all, mark{s.at(x), Format(unit, x)})
	}
	return all
}

// spaced returns ticks of a horizontal axis without the texts for which there is no room.
func spaced(ticks []mark) []mark {
	const character, gap = 7.0, 10.0
	all, free := slices.Clone(ticks), 0.0
	for i, tick := range all {
		half := character * float64(utf8.RuneCountInString(tick.Text)) / 2
		if tick.At-half < free {
			all[i].Text = ""
			continue
		}
		free = tick.At + half + gap
	}
	return all
}

func xScale(low, high float64) scale {
	return scale{low: low, high: high, from: left, to: width - right}
}
func yScale(high float64) scale {
	if high <= 0 {
		high = 1 // all values are zero
	}
	return scale{low: 0, high: high * 1.05, from: height - bottom, to: top}
}

// path returns an SVG path through points.
func path(points [][2]float64) string {
	var b strings.Builder
	for i, p := range points {
		command := "L"
		if i == 0 {
			command = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", command, p[0], p[1])
	}
	return b.String()
}

// draw adds the line of the answer i, if it has points.
func (p *plot) draw(i int, a predict.Answer, points [][2]float64) {
	if len(points) > 0 {
		p.Lines = append(p.Lines, line{Name: nameOf(a), Colour: i % colours, Dashed: i >= colours, Path: path(points)})
	}
}

// cut returns a note if a plot does not show all answers, or "".
func cut(p *predict.Prediction) string {
	if len(p.Answers) <= mostLines {
		return ""
	}
	return fmt.Sprintf(" Shown are the first %d of %d answers.", mostLines, len(p.Answers))
}

// plots returns the plots of a prediction.
func plots(p *predict.Prediction) []plot {
	all := []plot{distributions(p)}
	if courses := course(p); len(courses.Lines) > 0 {
		all = append(all, courses)
	}
	if name, ok := swept(p); ok {
		for _, f := range []string{"staleness.p99", "memory.peak", "reloads", "generations"} {
			all = append(all, sweepPlot(p, name, f))
		}
	}
	return all
}

// nameOf names an answer in a legend.
func nameOf(a predict.Answer) string {
	if len(a.Values) == 0 {
		return "staleness"
	}
	return values(a)
}

// distributions shows the distribution of staleness over the changes.
func distributions(p *predict.Prediction) plot {
	high := 0.0
	for _, a := range p.Answers {
		for _, point := range a.Staleness {
			high = max(high, point.Seconds)
		}
	}
	x, y := xScale(0, max(high, 1e-3)), yScale(1/1.05)
	drawn := plot{
		Title: "Staleness", Caption: "The share of changes that every worker serves within a time, over all simulated runs." + cut(p),
		X: axis{"time from the intent of the change", x.ticks(figure.Seconds)},
		Y: axis{"share of changes", y.ticks(figure.Share)},
	}
	for i, a := range p.Answers[:min(len(p.Answers), mostLines)] {
		var points [][2]float64
		for _, point := range a.Staleness {
			points = append(points, [2]float64{x.at(point.Seconds), y.at(point.Share)})
		}
		drawn.draw(i, a, points)
	}
	return drawn
}

// course shows the memory of nginx over time, in one simulated run.
func course(p *predict.Prediction) plot {
	length, high := 0.0, 0.0
	for _, a := range p.Answers {
		for _, step := range a.Course {
			length, high = max(length, step.At.Seconds()), max(high, step.Memory)
		}
	}
	if length == 0 {
		return plot{}
	}
	x, y := xScale(0, length), yScale(high)
	drawn := plot{
		Title: "Memory of nginx over time", Caption: "In one of the simulated runs. Each reload starts a generation of workers; old ones live as long as their connections, at most for worker-shutdown-timeout." + cut(p),
		X: axis{"time", x.ticks(figure.Seconds)},
		Y: axis{"memory", y.ticks(figure.MiB)},
	}
	for i, a := range p.Answers[:min(len(p.Answers), mostLines)] {
		drawn.draw(i, a, stairs(a.Course, x, y, length))
	}
	return drawn
}

// stairs returns the corners of steps.
func stairs(steps []simulate.Step, x, y scale, length float64) [][2]float64 {
	var points [][2]float64
	for i, step := range steps {
		if i > 0 {
			points = append(points, [2]float64{x.at(step.At.Seconds()), y.at(steps[i-1].Memory)})
		}
		points = append(points, [2]float64{x.at(step.At.Seconds()), y.at(step.Memory)})
	}
	if last := len(steps) - 1; last >= 0 {
		points = append(points, [2]float64{x.at(length), y.at(steps[last].Memory)})
	}
	return points
}

// swept returns the only setting of a sweep.
func swept(p *predict.Prediction) (string, bool) {
	names := slices.Collect(maps.Keys(p.Answers[0].Values))
	if len(names) != 1 || len(p.Answers) < 2 {
		return "", false
	}
	return names[0], true
}

// sweepPlot shows a figure over the values of a sweep, at even distances.
func sweepPlot(p *predict.Prediction, setting, name string) plot {
	f, _ := figure.Find(name)
	high := 0.0
	for _, a := range p.Answers {
		high = max(high, valueOf(a, name).High)
	}
	var bounds []predict.Verdict
	for _, c := range p.Answers[0].Conditions {
		if c.Figure == name {
			bounds, high = append(bounds, c), max(high, c.Bound)
		}
	}
	x, y := xScale(-0.5, float64(len(p.Answers))-0.5), yScale(high)
	drawn := plot{
		Title: f.Label, Caption: f.Doc + ". The line is the median of the simulated runs; 90 % of them are in the area.",
		X: axis{Label: setting}, Y: axis{f.Label, y.ticks(f.Unit)},
	}
	for _, bound := range bounds {
		drawn.Bounds = append(drawn.Bounds, mark{y.at(bound.Bound), bound.Condition})
	}
	var medians, lows, highs [][2]float64
	l := line{Name: f.Label}
	for i, a := range p.Answers {
		at, v := x.at(float64(i)), valueOf(a, name)
		drawn.X.Ticks = append(drawn.X.Ticks, mark{at, a.Values[setting]})
		medians = append(medians, [2]float64{at, y.at(v.Median)})
		lows, highs = append(lows, [2]float64{at, y.at(v.Low)}), append(highs, [2]float64{at, y.at(v.High)})
	}
	drawn.X.Ticks = spaced(drawn.X.Ticks)
	slices.Reverse(lows)
	l.Path, l.Area = path(medians), path(slices.Concat(highs, lows))+"Z"
	drawn.Lines = []line{l}
	return drawn
}
