package sweep

import (
	"slices"
	"time"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// Schema is the version of a sweep's result.json. Within a version, fields may be added, but none is
// removed or changes its meaning.
const Schema = "windtunnel.dev/sweep/v1"

// Document is the result.json of a sweep. docs/sweep.schema.json has the comments of the fields here
// and below.
type Document struct {
	Schema   string `json:"schema"`   // the version of this format
	Scenario string `json:"scenario"` // its name
	Summary  string `json:"summary,omitempty"`
	Driver   string `json:"driver"` // where it ran: local, container, kind
	Design   Design `json:"design"`
	// Environment is that of the first run: nginx, kernel, cpus, go …
	Environment map[string]string `json:"environment,omitempty"`
	Started     time.Time         `json:"started,omitzero"` // when the first run began
	Ended       time.Time         `json:"ended,omitzero"`   // when the last run was evaluated
	Interrupted bool              `json:"interrupted"`      // some combinations have not been run
	Figures     []Figure          `json:"figures"`          // that are shown, in order
	Runs        []Run             `json:"runs"`             // those that are finished, by combination and round
	Rows        []Row             `json:"rows"`             // the means of the runs: one row per combination and subject
	// Effects are the differences that the values of each factor make, of figures that differ at all.
	Effects []Effect `json:"effects,omitempty"`
	// Interactions are the pairs of factors whose effects depend on each other: those whose interval does
	// not contain zero. There are none if only one factor varies at a time.
	Interactions []Interaction `json:"interactions,omitempty"`
}

// Figure is a figure of a sweep.
type Figure struct {
	Name string       `json:"name"`
	Kind measure.Kind `json:"kind"` // values of times are in seconds, of memory in bytes
	Doc  string       `json:"doc"`
}

// Run is a finished run of a combination.
type Run struct {
	Combination Combination     `json:"combination"`
	Round       int             `json:"round"` // from 1
	Dir         string          `json:"dir"`   // relative to the folder of the sweep
	Outcome     judge.Outcome   `json:"outcome"`
	Note        string          `json:"note,omitempty"` // why it has its outcome, in a line
	Took        time.Duration   `json:"took"`
	Subjects    []SubjectValues `json:"subjects"`
}

// SubjectValues are the values of the figures of a subject in a run.
type SubjectValues struct {
	Subject string             `json:"subject"`
	Valid   bool               `json:"valid"`          // otherwise the run says nothing about the subject, and its values do not count
	Values  map[string]float64 `json:"values"`         // by figure; a figure without a value is missing
	Left    []measure.Left     `json:"left,omitempty"` // the drain curve, if it was requested
}

// Row has the means of the valid runs of a combination for a subject.
type Row struct {
	Combination Combination        `json:"combination"`
	Subject     string             `json:"subject"`
	Runs        int                `json:"runs"`   // valid ones
	Void        int                `json:"void"`   // runs that say nothing about the subject
	Values      map[string]float64 `json:"values"` // by figure
	// Left is the drain curve over all valid runs: the rest of a draining generation of workers for
	// each second since the reload. It is missing if it was not requested, or nothing drained.
	Left []measure.Left `json:"left,omitempty"`
}

// ValuesOf returns the values of the figures in the result of a run, and its drain curves if they are
// wanted.
func ValuesOf(result measure.Result, figures []measure.Figure, drain bool) []SubjectValues {
	var all []SubjectValues
	for _, s := range result.Subjects {
		made := SubjectValues{Subject: s.Name, Valid: s.Valid, Values: map[string]float64{}}
		for _, f := range figures {
			if value, ok := f.Of(s); ok {
				made.Values[f.Name] = value
			}
		}
		if drain {
			made.Left = s.Workers.Left
		}
		all = append(all, made)
	}
	return all
}

// Evaluate computes the rows, effects and interactions of the runs of a document, and sorts the runs.
func (d *Document) Evaluate() {
	slices.SortFunc(d.Runs, func(a, b Run) int {
		if a.Combination.Number != b.Combination.Number {
			return a.Combination.Number - b.Combination.Number
		}
		return a.Round - b.Round
	})
	d.Rows = rowsOf(d.Runs, d.Figures)
	d.Effects, d.Interactions = nil, nil
	for _, subject := range d.Subjects() {
		for _, f := range d.Figures {
			effects, interactions := d.cellsOf(subject, f.Name).evaluate(d.Design)
			for _, e := range effects {
				if e.Mean == 0 && e.Low == 0 && e.High == 0 {
					continue
				}
				e.Subject, e.Figure = subject, f.Name
				d.Effects = append(d.Effects, e)
			}
			for _, i := range interactions {
				if !i.Matters() {
					continue
				}
				i.Subject, i.Figure = subject, f.Name
				d.Interactions = append(d.Interactions, i)
			}
		}
	}
}

// Subjects returns the names of the subjects, in the order of the scenario.
func (d Document) Subjects() []string {
	var names []string
	for _, r := range d.Rows {
		if !slices.Contains(names, r.Subject) {
			names = append(names, r.Subject)
		}
	}
	return names
}

func (d Document) cellsOf(subject, figure string) cells {
	all := newCells(d.Design.Compared())
	for _, run := range d.Runs {
		for _, s := range run.Subjects {
			if value, ok := s.Values[figure]; ok && s.Valid && s.Subject == subject {
				all.add(run.Combination, value)
			}
		}
	}
	return all
}

// rowsOf returns the rows of sorted runs.
func rowsOf(runs []Run, figures []Figure) []Row {
	rows := []Row{} // a list in JSON, even if it is empty
	for _, run := range runs {
		for _, s := range run.Subjects {
			at := slices.IndexFunc(rows, func(r Row) bool { return r.Combination.Number == run.Combination.Number && r.Subject == s.Subject })
			if at < 0 {
				at = len(rows)
				rows = append(rows, Row{Combination: run.Combination, Subject: s.Subject, Values: map[string]float64{}})
			}
			if s.Valid {
				rows[at].Runs++
				rows[at].Left = joined(rows[at].Left, s.Left)
			} else {
				rows[at].Void++
			}
		}
	}
	for i := range rows {
		for _, f := range figures {
			if value, ok := meanOf(runs, rows[i], f.Name); ok {
				rows[i].Values[f.Name] = value
			}
		}
	}
	return rows
}

// meanOf returns the mean of a figure over the valid runs of a row.
func meanOf(runs []Run, row Row, figure string) (mean float64, ok bool) {
	sum, n := 0.0, 0
	for _, run := range runs {
		for _, s := range run.Subjects {
			if value, has := s.Values[figure]; has && s.Valid && s.Subject == row.Subject && run.Combination.Number == row.Combination.Number {
				sum, n = sum+value, n+1
			}
		}
	}
	return sum / float64(max(n, 1)), n > 0
}
