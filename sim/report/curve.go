package report

import (
	"slices"
	"time"

	"windtunnel.dev/sim/measure"
)

// drawn is a timeline for the page's plots. It has curves in place of all changes, because a long
// run has too many changes for a page.
type drawn struct {
	measure.Timeline
	Changes []measure.Served `json:"changes,omitempty"` // hides the changes of the timeline
	Curves  []Curve          `json:"curves"`
	Moments []marked         `json:"moments,omitempty"`
	Left    []measure.Left   `json:"left,omitempty"` // the drain curve
}

// marked is a moment in which requests failed, as a mark in the plots.
type marked struct {
	ID    string        `json:"id"` // of its details in the page
	From  time.Duration `json:"from"`
	Until time.Duration `json:"until"`
	Text  string        `json:"text"`
}

func draw(result measure.Result, series measure.Series) []drawn {
	all := []drawn{}
	for i, t := range series.Subjects {
		all = append(all, drawn{Timeline: t, Curves: curves(t), Moments: marks(i, t), Left: result.Subjects[i].Workers.Left})
	}
	return all
}

func marks(i int, t measure.Timeline) (all []marked) {
	for _, m := range momentsOf(i, t) {
		all = append(all, marked{m.ID, m.From, m.Until, m.Sentence})
	}
	return all
}

// Curve is the number of changes that were served within a time from their intent, by the first
// worker or by every worker.
type Curve struct {
	By    string          `json:"by"`
	Of    int             `json:"of"`    // changes that had to be served
	Times []time.Duration `json:"times"` // sorted
	Count []int           `json:"count"` // number of changes served within each time
}

// mostSteps limits the steps of a curve, because a plot has no finer resolution.
const mostSteps = 500

func curves(t measure.Timeline) []Curve {
	var of int
	var first, every []time.Duration
	for _, c := range t.Changes {
		if c.Fate == measure.Unwatched || c.Fate == measure.Failed {
			continue
		}
		of++
		if c.First >= 0 {
			first = append(first, c.First)
		}
		if c.Last >= 0 {
			every = append(every, c.Last)
		}
	}
	return Curves(of, first, every)
}

// Curves returns the curves of a subject, given the number of its changes that had to be served and the
// times in which they were, by the first worker and by every worker. It sorts the times.
func Curves(of int, first, every []time.Duration) []Curve {
	return []Curve{steps("first worker", of, first), steps("every worker", of, every)}
}

// steps returns a curve with at most mostSteps evenly spaced steps, including the last one.
func steps(by string, of int, times []time.Duration) Curve {
	slices.Sort(times)
	c := Curve{By: by, Of: of, Times: []time.Duration{}, Count: []int{}}
	each := (len(times) + mostSteps - 1) / mostSteps
	for n := len(times); n > 0; n -= each {
		c.Times, c.Count = append(c.Times, times[n-1]), append(c.Count, n)
	}
	slices.Reverse(c.Times)
	slices.Reverse(c.Count)
	return c
}
