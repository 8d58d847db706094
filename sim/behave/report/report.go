// Package report shows the results of behaviour cases: in a terminal, as result.json, as one HTML
// page, as Markdown and for CI systems. Its one rule: it is pure, and shows the results that it
// gets.
package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/report"
)

// Schema is the version of result.json. Within a version, fields may be added, but none is removed
// or changes its meaning.
const Schema = "windtunnel.dev/case-result/v1"

// Run describes what was run. docs/case-result.schema.json has the comments of the fields here and
// below.
type Run struct {
	// The controller: bundled, a path, or an image.
	Subject string `json:"subject"`
	// Where it ran.
	Driver string `json:"driver"`
	// When the run began.
	Start time.Time `json:"start"`
	// How long the run took, in nanoseconds.
	Took time.Duration `json:"took"`
}

// Document is result.json.
type Document struct {
	// The version of the format: windtunnel.dev/case-result/v1.
	Schema string `json:"schema"`
	Run
	// The number of cases with each outcome.
	Outcomes Counts `json:"outcomes"`
	// The cases, by name.
	Cases []Case `json:"cases"`
}

// Case is a case with its result.
type Case struct {
	behave.Result
	// Its folder.
	Topic string `json:"topic"`
	// What the controller does, in one sentence.
	Summary string `json:"summary"`
	// The annotations, ConfigMap keys and flags that it covers: annotation/rewrite-target.
	Covers []string `json:"covers"`
}

// Of returns the document for cases and their results, which are in the same order.
func Of(run Run, cases []*behave.Case, results []behave.Result) Document {
	d := Document{Schema: Schema, Run: run, Outcomes: Counts{}, Cases: []Case{}}
	for i, c := range cases {
		one := Case{Result: results[i], Topic: Topic(c.Name), Summary: c.Summary, Covers: append([]string{}, c.Settings()...)}
		d.Outcomes[one.Outcome]++
		d.Cases = append(d.Cases, one)
	}
	return d
}

// With returns the document with the cases of a run that continued it, which replace those with the
// same name.
func (d Document) With(later Document) Document {
	all := map[string]Case{}
	for _, c := range slices.Concat(d.Cases, later.Cases) {
		all[c.Result.Case] = c
	}
	d.Took += later.Took
	d.Outcomes, d.Cases = Counts{}, []Case{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d.Outcomes[all[name].Outcome]++
		d.Cases = append(d.Cases, all[name])
	}
	return d
}

// Topic returns the topic of a case from its name: redirects of redirects/app-root.
func Topic(name string) string {
	topic, _, found := strings.Cut(name, "/")
	if !found {
		return "cases"
	}
	return topic
}

// JSON writes result.json. Durations are in nanoseconds.
func JSON(w io.Writer, d Document) error {
	if err := report.Indented(w, d); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// Counts is the number of cases with each outcome.
type Counts map[behave.Outcome]int

// Outcomes are all outcomes of a case, in the order in which reports show them.
var Outcomes = []behave.Outcome{behave.Passed, behave.Differs, behave.Failed, behave.NoLonger, behave.Void, behave.Skipped}

// String returns the counts that are not zero, as in: 12 passed, 1 failed.
func (c Counts) String() string {
	var parts []string
	for _, outcome := range Outcomes {
		if c[outcome] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c[outcome], outcome))
		}
	}
	return strings.Join(parts, ", ")
}

// present returns the outcomes that occur.
func (c Counts) present() []behave.Outcome {
	return slices.DeleteFunc(slices.Clone(Outcomes), func(o behave.Outcome) bool { return c[o] == 0 })
}

// row counts the outcomes of the cases with a common topic or setting.
type row struct {
	Name   string
	Counts Counts
	Bad    bool // somebody must fix one of them
}

// rows counts the outcomes by name. A case may have several names.
func (d Document) rows(names func(Case) []string) []row {
	found := map[string]*row{}
	for _, c := range d.Cases {
		for _, name := range names(c) {
			r := found[name]
			if r == nil {
				r = &row{Name: name, Counts: Counts{}}
				found[name] = r
			}
			r.Counts[c.Outcome]++
			r.Bad = r.Bad || c.Outcome.Bad()
		}
	}
	var all []row
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, *found[name])
	}
	return all
}

// topics returns a row for each topic.
func (d Document) topics() []row {
	return d.rows(func(c Case) []string { return []string{c.Topic} })
}

// covered returns a row for each annotation, ConfigMap key and flag that cases cover.
func (d Document) covered() []row {
	return d.rows(func(c Case) []string { return c.Covers })
}

// notable returns the cases that did not pass: first those that need fixing, then those that differ
// or were skipped, each sorted by name.
func (d Document) notable() []Case {
	all := slices.DeleteFunc(slices.Clone(d.Cases), func(c Case) bool { return c.Outcome == behave.Passed })
	slices.SortStableFunc(all, func(a, b Case) int {
		return cmp.Or(cmp.Compare(severity(a.Outcome), severity(b.Outcome)), cmp.Compare(a.Case, b.Case))
	})
	return all
}

// bySeverity are the outcomes other than passed, the most severe first.
var bySeverity = []behave.Outcome{behave.Failed, behave.NoLonger, behave.Void, behave.Differs, behave.Skipped}

func severity(o behave.Outcome) int { return slices.Index(bySeverity, o) }

// headline returns the outcome in words.
func (d Document) headline() string {
	return fmt.Sprintf("%s: %s", plural.Of(len(d.Cases), "case"), d.Outcomes)
}
