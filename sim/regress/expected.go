package regress

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/regress/conf"
	"windtunnel.dev/sim/specfile"
)

// Expectation declares kinds of differences that are wanted.
type Expectation struct {
	Change    conf.Change `json:"change"`
	Directive string      `json:"directive"`       // a directive, or only its name
	Place     string      `json:"place,omitempty"` // empty: any
	Reason    string      `json:"reason"`
	Until     string      `json:"until"` // the last day on which it applies: 2027-01-31

	line int // in the file
}

// Project has the declarations of a project for its comparisons.
type Project struct {
	Expected []Expectation
	// Budgets are the changes of figures of the part speed that matter, as shares of base, by the name of
	// the figure or of its group.
	Budgets map[string]float64
}

// projectDocument is windtunnel.yaml, as far as this package reads it.
type projectDocument struct {
	Regress regressField `yaml:"regress"`
	History yaml.Node    `yaml:"history"` // of package sim/history/trend
}

type regressField struct {
	Expected []yaml.Node `yaml:"expected"`
	Budgets  yaml.Node   `yaml:"budgets"`
}

// ReadProject reads the field regress of a file. Errors have the form "name:line: what".
func ReadProject(name string, data []byte) (Project, error) {
	var file projectDocument
	if err := specfile.DecodeFile(name, data, &file, map[string]string{"projectDocument": "the file", "regressField": "regress"}); err != nil {
		return Project{}, err
	}
	var project Project
	var wrong []error
	for _, node := range file.Regress.Expected {
		e, err := expectationOf(&node)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, node.Line, err))
		}
		project.Expected = append(project.Expected, e)
	}
	if node := file.Regress.Budgets; !node.IsZero() {
		var err error
		if project.Budgets, err = budgets(&node); err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, node.Line, err))
		}
	}
	return project, errors.Join(wrong...)
}

func expectationOf(node *yaml.Node) (Expectation, error) {
	var fields map[string]string
	if err := node.Decode(&fields); err != nil {
		return Expectation{}, fmt.Errorf("an expected difference: want fields with texts: %w", err)
	}
	for key := range fields {
		if !slices.Contains([]string{"change", "directive", "place", "reason", "until"}, key) {
			return Expectation{}, fmt.Errorf("unknown field %s: an expected difference has change, directive, place, reason and until", key)
		}
	}
	e := Expectation{Change: conf.Change(fields["change"]), Directive: fields["directive"], Place: fields["place"], Reason: fields["reason"], Until: fields["until"], line: node.Line}
	switch {
	case !slices.Contains([]conf.Change{conf.Gained, conf.Lost, conf.Changed, conf.Moved, AnswerChange, FailChange, CostChange}, e.Change):
		return e, fmt.Errorf("change %q: want gain, lose, change, move, answer, fail or cost", e.Change)
	case e.Directive == "":
		return e, errors.New("no directive: write one as the report shows it, such as proxy_buffering off, or only its name")
	case e.Reason == "":
		return e, errors.New("no reason: say why the difference is wanted")
	}
	if _, err := time.Parse(time.DateOnly, e.Until); err != nil {
		return e, fmt.Errorf("until %q: want the last day on which the difference is expected, such as 2027-01-31", e.Until)
	}
	return e, nil
}

// covers reports whether a kind of difference is expected.
func (e Expectation) covers(k Kind) bool {
	name, _, _ := strings.Cut(k.Directive, " ")
	return e.Change == k.Change && (e.Directive == k.Directive || e.Directive == name) && (e.Place == "" || e.Place == k.Place)
}

// FailChange is the value of Expectation.Change for failures of one side.
const FailChange = "fail"

// coversFailure reports whether a failure of one side is expected. Its directive is the line of
// nginx.conf, or the stage if no line is known; its place is the object.
func (e Expectation) coversFailure(f Failure) bool {
	if e.Change != FailChange || f.Sides == SidesBoth {
		return false
	}
	text := cmp.Or(f.Text, f.Stage)
	name, _, _ := strings.Cut(text, " ")
	return (e.Directive == text || e.Directive == strings.TrimRight(name, ";")) && (e.Place == "" || e.Place == f.Object)
}

// decides reports whether the part ran that shows whether an expected difference occurs.
func (r *Report) decides(e Expectation) bool {
	switch e.Change {
	case AnswerChange:
		return r.Behaviour != nil
	case CostChange:
		return r.Cost != nil
	}
	return r.Clusters.All > 0
}

// expect marks the kinds that are expected, and notes expectations that have expired or cover
// nothing. today is a day in the form of Until.
func (r *Report) expect(all []Expectation, today string) {
	for _, e := range all {
		valid := e.Until >= today
		covered := r.mark(e, valid)
		what := fmt.Sprintf("The expected difference in line %d (%s %s)", e.line, e.Change, e.Directive)
		switch {
		case !covered && !r.decides(e):
		case !covered:
			r.Notes = append(r.Notes, what+" does not occur: remove it.")
		case !valid:
			r.Notes = append(r.Notes, what+" has expired on "+e.Until+": remove the difference, or set a new day.")
		}
	}
}

// mark marks the differences that an expectation covers, if it is valid, and reports whether there
// are any.
func (r *Report) mark(e Expectation, valid bool) (covered bool) {
	cover := func(expected **Expectation) {
		covered = true
		if valid {
			*expected = &e
		}
	}
	for i := range r.Kinds {
		if k := &r.Kinds[i]; e.covers(*k) {
			cover(&k.Expected)
		}
	}
	for i := range r.Failures {
		if f := &r.Failures[i]; e.coversFailure(*f) {
			cover(&f.Expected)
		}
	}
	for i := range r.answers() {
		if a := &r.Behaviour.Answers[i]; e.coversAnswer(*a) {
			cover(&a.Expected)
		}
	}
	return r.expectCosts(e, valid) || covered
}
