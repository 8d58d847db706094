package trend

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/specfile"
)

// Explanation declares that a step is intended.
type Explanation struct {
	Commit string `yaml:"commit"` // the beginning of its hash
	// Figure, Scenario and Subject are names, in which * matches any characters. Scenario and Subject
	// may be empty: any.
	Figure   string `yaml:"figure"`
	Scenario string `yaml:"scenario"`
	Subject  string `yaml:"subject"`
	Reason   string `yaml:"reason"`
}

// projectDocument is the part of windtunnel.yaml that this package reads.
type projectDocument struct {
	History historyField `yaml:"history"`
	Regress yaml.Node    `yaml:"regress"` // of package sim/regress
}

type historyField struct {
	Explained []yaml.Node `yaml:"explained"`
}

// ReadExplanations reads the list explained of the field history of a file. Errors have the form
// "name:line: what".
func ReadExplanations(name string, data []byte) ([]Explanation, error) {
	var file projectDocument
	if err := specfile.DecodeFile(name, data, &file, map[string]string{"projectDocument": "the file", "historyField": "history"}); err != nil {
		return nil, err
	}
	var all []Explanation
	var wrong []error
	for _, node := range file.History.Explained {
		e, err := explanationOf(&node)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, node.Line, err))
		}
		all = append(all, e)
	}
	return all, errors.Join(wrong...)
}

// shortestHash is the least number of digits to which git abbreviates a hash.
const shortestHash = 7

func explanationOf(node *yaml.Node) (Explanation, error) {
	var fields map[string]string
	if err := node.Decode(&fields); err != nil {
		return Explanation{}, fmt.Errorf("an explained step: want fields with texts: %w", err)
	}
	e := Explanation{Commit: fields["commit"], Figure: fields["figure"], Scenario: fields["scenario"], Subject: fields["subject"], Reason: fields["reason"]}
	for _, known := range []string{"commit", "figure", "scenario", "subject", "reason"} {
		delete(fields, known)
	}
	for key := range fields {
		return e, fmt.Errorf("unknown field %s: an explained step has commit, figure, scenario, subject and reason", key)
	}
	switch {
	case len(e.Commit) < shortestHash:
		return e, fmt.Errorf("commit %q: want a hash of %d digits or more", e.Commit, shortestHash)
	case e.Figure == "":
		return e, errors.New("no figure: name the one of the step, such as cpu.nginx or memory.*")
	case e.Reason == "":
		return e, errors.New("no reason: say why the step is wanted")
	}
	for _, pattern := range []string{e.Figure, e.Scenario, e.Subject} {
		if _, err := path.Match(pattern, ""); err != nil {
			return e, fmt.Errorf("%q: %w", pattern, err)
		}
	}
	return e, nil
}

// slack is the number of points by which a step may move when further runs show it more clearly.
const slack = 2

// Explain sets the explanations of steps. An explanation covers a step if its commit is one of those
// of the step, or near them.
func (t *Trend) Explain(all []Explanation) {
	for _, s := range t.Series {
		for i := range s.Steps {
			for _, e := range all {
				if e.covers(t, s, s.Steps[i]) {
					s.Steps[i].Explained = e.Reason
				}
			}
		}
	}
}

func (e Explanation) covers(t *Trend, s Series, step Step) bool {
	if !matches(e.Figure, s.Figure) || !matches(e.Scenario, s.Scenario) || !matches(e.Subject, s.Subject) {
		return false
	}
	for i := max(0, step.First-slack); i <= min(len(s.Points)-1, step.Last+slack); i++ {
		if strings.HasPrefix(t.Commits[s.Points[i].Commit].Hash, e.Commit) {
			return true
		}
	}
	return false
}

func matches(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	ok, _ := path.Match(pattern, name) // the pattern is valid
	return ok
}
