package mutate

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/internal/plural"
)

// Outcome is the outcome of trying a mutant.
type Outcome string

// The outcomes of mutants.
const (
	Killed    Outcome = "killed"    // a case fails
	Survived  Outcome = "survived"  // no case fails
	Stillborn Outcome = "stillborn" // nginx rejects it, or the controller does not serve anything
	Unreached Outcome = "unreached" // no case makes the controller execute the line, or its condition hold
	Undecided Outcome = "undecided" // the cases that are most likely to fail pass; then the time ran out
	Untried   Outcome = "untried"   // the time ran out
)

// Outcomes lists the outcomes, in the order of reports.
var Outcomes = []Outcome{Killed, Survived, Undecided, Stillborn, Unreached, Untried}

// Result is the outcome of a mutant.
type Result struct {
	Mutant
	Outcome Outcome `json:"outcome"`
	// By are the cases that failed, of those that were run. Not all cases are run once one has failed.
	By []string `json:"by,omitempty"`
	// Reached is the number of cases under which the mutant may have an effect, and Ran how many of
	// them were run.
	Reached int `json:"reached"`
	Ran     int `json:"ran"`
	// Why is the first expectation that does not hold, or why the mutant is stillborn.
	Why string `json:"why,omitempty"`
}

// Document is the result of a run over mutants.
type Document struct {
	Version string // of the program
	Command string
	Start   time.Time
	Cases   []string // the names of the cases that pass without a mutant
	Results []Result
	// Known is the number of results that come from an earlier run, perhaps with another version.
	Known int
	// Reasons says why mutants may survive or are not reached, by name.
	Reasons map[string]string
}

// Counts are numbers of mutants by outcome.
type Counts map[Outcome]int

// Count returns the outcomes of the mutants of a kind; of all kinds if it is empty.
func (d Document) Count(kind Kind) Counts {
	counts := Counts{}
	for _, r := range d.Results {
		if kind == "" || r.Kind == kind {
			counts[r.Outcome]++
		}
	}
	return counts
}

// Unexplained is Count without the mutants that have a reason to survive. It includes all killed
// mutants.
func (d Document) Unexplained(kind Kind) Counts {
	counts := Counts{}
	for _, r := range d.Results {
		if (kind == "" || r.Kind == kind) && (r.Outcome == Killed || d.Reasons[r.Name] == "") {
			counts[r.Outcome]++
		}
	}
	return counts
}

// Surviving returns the percentage of mutants that survive, relative to those that were killed,
// survived or are undecided. It is at least low; high also counts the undecided mutants as survivors.
// Both are 0 if there are none.
func (c Counts) Surviving() (low, high float64) {
	living := float64(c[Killed] + c[Survived] + c[Undecided])
	if living == 0 {
		return 0, 0
	}
	return float64(100*c[Survived]) / living, float64(100*(c[Survived]+c[Undecided])) / living
}

// Percent returns the share of mutants that survive as a text: 4.2 %, or 4.2 to 9.0 %.
func (c Counts) Percent() string {
	low, high := c.Surviving()
	if low == high {
		return fmt.Sprintf("%.1f %%", low)
	}
	return fmt.Sprintf("%.1f to %.1f %%", low, high)
}

// Killers returns the mutants that each of the cases kills, by the case's name. A case that kills none
// has an entry as well.
func (d Document) Killers() map[string][]string {
	all := map[string][]string{}
	for _, name := range d.Cases {
		all[name] = nil
	}
	for _, r := range d.Results {
		if r.Outcome != Killed {
			continue
		}
		for _, name := range r.By {
			if _, ok := all[name]; ok { // not a case of an earlier run only
				all[name] = append(all[name], r.Name)
			}
		}
	}
	return all
}

// Markdown writes the document as a page.
func Markdown(out io.Writer, d Document) error {
	w := &writer{out: out}
	w.line("# Mutations")
	w.line("")
	w.line("What `%s` found on %s with version %s: each mutant changes one line of the controller's template or Lua code, or makes the controller ignore an annotation, a ConfigMap key or a flag. It is *killed* if a behaviour case fails under it.", d.Command, d.Start.UTC().Format("2 January 2006"), d.Version)
	w.line("")
	w.line("*Stillborn* mutants make nginx reject its configuration, or keep the controller from serving anything. *Unreached* lines are executed for no case, or have a condition that holds for none. Neither counts in the percentage. *Undecided* mutants survived the cases that are most likely to fail, and *untried* ones were not tried, because the time ran out.")
	w.line("")
	if d.Known > 0 {
		w.line("%s known from earlier runs, perhaps of other versions.", plural.Of(d.Known, "outcome is", "outcomes are"))
		w.line("")
	}
	w.line("Of mutants that live, which are the killed, surviving and undecided ones, the last columns say how many survive: of all, and of those that have no reason to.")
	w.line("")
	w.line("| mutants | all | killed | survived | undecided | stillborn | unreached | untried | survive | without a reason |")
	w.line("|---|---|---|---|---|---|---|---|---|---|")
	for _, kind := range append(slices.Clone(Kinds), "") {
		counts := d.Count(kind)
		all := 0
		row := ""
		for _, outcome := range Outcomes {
			all += counts[outcome]
			row += fmt.Sprintf(" %d |", counts[outcome])
		}
		if all > 0 {
			w.line("| %s | %d |%s %s | %s |", orAll(kind), all, row, counts.Percent(), d.Unexplained(kind).Percent())
		}
	}
	d.list(w, Survived, "Survivors", "No case fails under these mutants.")
	d.list(w, Undecided, "Undecided", "The cases that are most likely to fail pass under these mutants. The others were not run.")
	d.list(w, Unreached, "Unreached", "No case makes the controller execute these lines, or their conditions hold.")
	d.list(w, Stillborn, "Stillborn", "")
	d.list(w, Untried, "Untried", "")
	d.cases(w)
	return w.err
}

func orAll(kind Kind) string {
	if kind == "" {
		return "all"
	}
	return string(kind)
}

// list writes the mutants with an outcome, by kind, file and line.
func (d Document) list(w *writer, outcome Outcome, title, doc string) {
	var rows []Result
	for _, r := range d.Results {
		if r.Outcome == outcome {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(a, b Result) int {
		return cmp.Or(cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name))
	})
	w.line("\n## %s\n", title)
	if doc != "" {
		w.line("%s\n", doc)
	}
	if outcome == Untried || outcome == Stillborn {
		for _, r := range rows {
			w.line("* %s", code(r.Name))
		}
		return
	}
	w.line("| mutant | line | reason |")
	w.line("|---|---|---|")
	for _, r := range rows {
		w.line("| %s | %s | %s |", code(r.Name), code(r.Was), cell(markdown.Text(d.Reasons[r.Name])))
	}
}

// cases writes which mutants each case kills.
func (d Document) cases(w *writer) {
	killers := d.Killers()
	var idle []string
	for _, name := range slices.Sorted(maps.Keys(killers)) {
		if len(killers[name]) == 0 {
			idle = append(idle, name)
		}
	}
	w.line("\n## Cases\n")
	w.line("%d of %d cases kill a mutant.", len(killers)-len(idle), len(killers))
	if len(idle) > 0 {
		w.line("\nThese kill none of those that were run with them:\n")
		for _, name := range idle {
			w.line("* %s", name)
		}
	}
	w.line("\n| case | mutants that it kills |")
	w.line("|---|---|")
	for _, name := range slices.Sorted(maps.Keys(killers)) {
		if kills := killers[name]; len(kills) > 0 {
			more := ""
			if len(kills) > mostNamed {
				more = fmt.Sprintf(" and %d more", len(kills)-mostNamed)
				kills = kills[:mostNamed]
			}
			w.line("| %s | %s%s |", name, strings.Join(kills, ", "), more)
		}
	}
}

// mostNamed is how many mutants are named for each case.
const mostNamed = 3

// code returns a text as code in a table.
func code(text string) string { return cell(markdown.Code(text)) }

// cell returns Markdown as a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// writer keeps the first error.
type writer struct {
	out io.Writer
	err error
}

func (w *writer) line(format string, values ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format+"\n", values...)
	}
}
