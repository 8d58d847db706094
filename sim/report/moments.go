package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/measure"
)

// moment is a period in which requests of a subject failed, formatted for readers.
type moment struct {
	ID       string // of its place in the page
	Number   int    // among the moments of the subject, from 1
	From     time.Duration
	Until    time.Duration
	Failed   int
	Sentence string // without the full stop
	Lanes    string
	Requests []failedRow
	Cut      string // says that Requests is incomplete; "" if it is complete
	Around   []happening
	Log      []string
}

// failedRow is a row in the table of a moment's failed requests.
type failedRow struct {
	At, Lane, Request, Cause, Words, Answer, Took string
}

// happening is something that happened around a moment.
type happening struct {
	When string // relative to the first failed request
	What string
	at   time.Duration
}

// momentsOf returns the moments of the subject i.
func momentsOf(i int, t measure.Timeline) (all []moment) {
	for j, m := range t.Moments {
		one := moment{
			ID: fmt.Sprintf("moment-%d-%d", i+1, j+1), Number: j + 1, From: m.From, Until: m.Until, Failed: m.Failed,
			Sentence: momentSentence(m, t), Lanes: lanesOf(m.Lanes), Around: aroundOf(m), Log: m.Log,
		}
		for _, f := range m.Requests {
			one.Requests = append(one.Requests, failedRowOf(f, t))
		}
		if m.Failed > len(m.Requests) {
			one.Cut = fmt.Sprintf("The first %d of %s.", len(m.Requests), count(m.Failed))
		}
		all = append(all, one)
	}
	return all
}

// momentSentence says how many requests failed, when, and after what, without the full stop.
func momentSentence(m measure.Moment, t measure.Timeline) string {
	parts := []string{fmt.Sprintf("%s %s failed at %s on %s: %s",
		count(m.Failed), plural.Noun(m.Failed, "request"), clock(t, m.From), t.Name, causesOf(m.Causes))}
	if at, ok := nearest(m.Reloads, m.From, func(r measure.Reload) time.Duration { return r.At }); ok {
		parts = append(parts, relative(m.From-at, "a reload"))
	}
	if at, ok := nearest(m.Changes, m.From, func(c measure.Served) time.Duration { return c.At }); ok && len(m.Reloads) == 0 {
		parts = append(parts, relative(m.From-at, "a change"))
	}
	if active, over := faultsAt(m); len(active) > 0 {
		parts = append(parts, "during "+faultNames(active))
	} else if len(over) > 0 {
		last := over[len(over)-1]
		parts = append(parts, relative(m.From-last.From, "the fault "+last.Name))
	}
	return strings.Join(parts, ", ")
}

// nearest returns the time of the last value until a moment or, if there is none, of the first one
// after it.
func nearest[T any](all []T, moment time.Duration, at func(T) time.Duration) (found time.Duration, ok bool) {
	for _, one := range all {
		if !ok || at(one) <= moment {
			found, ok = at(one), true
		}
	}
	return found, ok
}

// faultsAt returns the faults that were active when requests failed, and those that were over by then.
func faultsAt(m measure.Moment) (active, over []measure.Broken) {
	for _, f := range m.Faults {
		if f.Until < m.From {
			over = append(over, f)
		} else {
			active = append(active, f)
		}
	}
	return active, over
}

func faultNames(faults []measure.Broken) string {
	var names []string
	for _, f := range faults {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return plural.Noun(len(names), "the fault ", "the faults ") + listOf(names)
}

// lanesOf says how many requests of each lane failed.
func lanesOf(lanes map[string]int) string {
	var all []string
	for _, lane := range byCount(lanes) {
		all = append(all, count(lanes[lane])+" of lane "+lane)
	}
	return listOf(all)
}

func failedRowOf(f measure.FailedRequest, t measure.Timeline) failedRow {
	row := failedRow{
		At: clock(t, f.At), Lane: f.Lane, Request: strings.TrimSpace(f.Method + " " + f.Host), Took: duration(f.Took),
		Cause: string(f.Cause), Words: causeWords[f.Cause], Answer: "none",
	}
	var answer []string
	if f.Status != 0 {
		answer = append(answer, fmt.Sprint(f.Status))
	}
	if f.Pod != "" {
		answer = append(answer, "from "+f.Pod)
	}
	if f.Detail != "" && f.Detail != fmt.Sprintf("status %d", f.Status) {
		answer = append(answer, f.Detail)
	}
	if len(answer) > 0 {
		row.Answer = strings.Join(answer, ", ")
	}
	return row
}

// aroundOf returns what happened around a moment, in order of time.
func aroundOf(m measure.Moment) (all []happening) {
	add := func(at time.Duration, what string) {
		all = append(all, happening{relative(at-m.From, ""), what, at})
	}
	for _, c := range m.Changes {
		add(c.At, fmt.Sprintf("change %d: %s of %s, %s", c.ID, c.Step, c.Object, fateOf(c)))
	}
	for _, r := range m.Reloads {
		add(r.At, fmt.Sprintf("reload: the workers of generation %d started", r.Generation))
	}
	for _, f := range m.Faults {
		add(f.From, fmt.Sprintf("the fault %s began; it lasted %s", f.Name, duration(f.Until-f.From)))
	}
	slices.SortStableFunc(all, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
	return all
}

// fateOf says what became of a change.
func fateOf(c measure.Served) string {
	switch c.Fate {
	case measure.Failed:
		return "refused by the API server: " + c.Error
	case measure.Superseded:
		return "undone by a later change"
	case measure.Unwatched:
		return "not visible in answers"
	}
	switch {
	case c.Last >= 0:
		return "served by every worker " + duration(c.Last) + " later"
	case c.First >= 0:
		return "served by the first worker " + duration(c.First) + " later, but not by all workers in time"
	}
	return "not served in time"
}
