package report

import (
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/measure"
	runreport "windtunnel.dev/sim/report"
	"windtunnel.dev/sim/sweep"
)

// drainTimes are the times since a reload that the table of drain curves shows.
var drainTimes = []time.Duration{
	0, 1 * time.Second, 2 * time.Second, 3 * time.Second, 5 * time.Second, 7 * time.Second, 10 * time.Second, 15 * time.Second,
	20 * time.Second, 30 * time.Second, 45 * time.Second, 60 * time.Second, 90 * time.Second, 120 * time.Second, 180 * time.Second, 240 * time.Second,
}

// longestDrain returns the length of the longest drain curve, or 0 if there is none.
func longestDrain(d sweep.Document) (longest time.Duration) {
	for _, r := range d.Rows {
		if n := len(r.Left); n > 0 {
			longest = max(longest, r.Left[n-1].After)
		}
	}
	return longest
}

// shownTimes returns the columns of the table of drain curves.
func shownTimes(d sweep.Document) []time.Duration {
	longest := longestDrain(d)
	return slices.DeleteFunc(slices.Clone(drainTimes), func(t time.Duration) bool { return t > longest })
}

func drainHeader(d sweep.Document) []string {
	all := []string{"#"}
	for _, f := range d.Design.Factors {
		all = append(all, f.Short())
	}
	if len(d.Subjects()) > 1 {
		all = append(all, "subject")
	}
	for _, t := range shownTimes(d) {
		all = append(all, inSeconds(t))
	}
	return all
}

// drainRows returns the rows of the table of drain curves: the connections and workers left, by time.
func drainRows(d sweep.Document) [][]string {
	var all [][]string
	for _, r := range d.Rows {
		if len(r.Left) == 0 {
			continue
		}
		cells := []string{fmt.Sprint(r.Combination.Number)}
		for _, f := range d.Design.Factors {
			cells = append(cells, valueName(r.Combination.ValueOf(f)))
		}
		if len(d.Subjects()) > 1 {
			cells = append(cells, r.Subject)
		}
		for _, t := range shownTimes(d) {
			cells = append(cells, leftAt(r.Left, t))
		}
		all = append(all, cells)
	}
	return all
}

func inSeconds(t time.Duration) string { return fmt.Sprintf("%.0f s", t.Seconds()) }

// leftAt returns the connections and workers that are left at a time.
func leftAt(curve []measure.Left, after time.Duration) string {
	last := curve[len(curve)-1]
	if after > last.After {
		if last.Workers == 0 {
			return "0"
		}
		return none
	}
	at := curve[slices.IndexFunc(curve, func(p measure.Left) bool { return p.After >= after })]
	if at.Workers == 0 {
		return "0"
	}
	return runreport.Value(measure.Number, at.Clients) + " (" + runreport.Value(measure.Number, at.Workers) + ")"
}

// drainNotes returns notes on how to read the drain curves.
func drainNotes(d sweep.Document) []string {
	if longestDrain(d) == 0 {
		return nil
	}
	return []string{"Drain curves: connections of clients that a draining generation of workers still holds some time after the reload and, in brackets, its workers. The values are means over the generations that were observed that long; a dash means that there was none."}
}

// tickEvery returns the distance between two labels of an axis of this length.
func tickEvery(longest time.Duration) time.Duration {
	for _, every := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second} {
		if longest <= 15*every {
			return every
		}
	}
	return time.Minute
}

// drainPlots returns the plots of the drain curves. If there are several factors, there is a plot for each
// value of the first one, with a line per combination of the others; or, if one factor varies at a
// time, a plot for each factor, with a line per value.
func drainPlots(d sweep.Document) (all []plot) {
	longest := longestDrain(d)
	if longest == 0 {
		return nil
	}
	add := func(of string, named []sweep.Factor, rows []sweep.Row) {
		made := drainPlot(longest, of)
		for _, r := range rows {
			if len(r.Left) > 0 {
				made.Lines = append(made.Lines, drainLine(d, r, named, len(made.At)))
			}
		}
		if len(made.Lines) > 0 {
			all = append(all, made)
		}
	}
	switch factors := d.Design.Factors; {
	case len(factors) == 1:
		add("", factors, d.Rows)
	case d.Design.OneAtATime:
		for i, f := range factors {
			add(" ("+f.Short()+")", factors[i:i+1], varying(d.Rows, f))
		}
	default:
		first := factors[0]
		for _, value := range first.Values {
			add(" ("+first.Short()+" "+valueName(value)+")", factors[1:], rowsWith(d.Rows, first, value))
		}
	}
	return all
}

func rowsWith(rows []sweep.Row, f sweep.Factor, value string) []sweep.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r sweep.Row) bool { return r.Combination.ValueOf(f) != value })
}

// drainPlot returns a plot of drain curves without its lines; of says what it shows.
func drainPlot(longest time.Duration, of string) plot {
	made := plot{
		Name: "connections left of a draining generation", Kind: measure.Number, Factor: "time since the reload" + of,
		Doc: "Connections of clients that a draining generation of workers still holds.",
	}
	for t := time.Duration(0); t <= longest; t += time.Second {
		made.Labels, made.At = append(made.Labels, inSeconds(t)), append(made.At, t.Seconds())
		if t%tickEvery(longest) == 0 {
			made.Ticks = append(made.Ticks, t.Seconds())
		}
	}
	return made
}

// drainLine returns the line of a row, named by its values of some factors.
func drainLine(d sweep.Document, r sweep.Row, named []sweep.Factor, points int) line {
	var name string
	for i, f := range named {
		if i > 0 {
			name += ", "
		}
		name += f.Short() + "=" + valueName(r.Combination.ValueOf(f))
	}
	if len(d.Subjects()) > 1 {
		name = r.Subject + ", " + name
	}
	made := line{Name: name, Values: make([]*float64, points)}
	for _, p := range r.Left {
		made.Values[int(p.After/time.Second)] = new(p.Clients)
	}
	return made
}
