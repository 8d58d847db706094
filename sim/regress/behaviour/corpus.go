package behaviour

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/behave/diff"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/regress"
)

// Corpus contains the requests that follow from the manifests of a corpus: derived cases, one per
// group of ingresses that share hosts.
type Corpus struct {
	Groups []*derive.Case
	Known  behave.Known // the names that cases may use
}

// corpusFolder is the first part of the names of a corpus's cases.
const corpusFolder = "corpus"

// Bounded returns the corpus with as many groups as possible without exceeding a number of
// requests, and the number of requests of the omitted groups. Groups with annotations that no
// earlier group has come first.
func (c Corpus) Bounded(most int) (bounded Corpus, leftOut int) {
	seen := map[string]bool{}
	var fresh, rest []*derive.Case
	for _, group := range c.Groups {
		news := false
		for _, about := range group.Covers {
			news = news || !seen[about]
			seen[about] = true
		}
		if news {
			fresh = append(fresh, group)
		} else {
			rest = append(rest, group)
		}
	}
	bounded.Known = c.Known
	requests := 0
	for _, group := range slices.Concat(fresh, rest) {
		if requests+len(group.Steps) > most {
			leftOut += len(group.Steps)
			continue
		}
		requests += len(group.Steps)
		bounded.Groups = append(bounded.Groups, group)
	}
	return bounded, leftOut
}

// Requests counts the requests of the corpus.
func (c Corpus) Requests() (n int) {
	for _, group := range c.Groups {
		n += len(group.Steps)
	}
	return n
}

// Compare sends requests to the base, and then the same requests to the head, with the answers of
// the base as expectations. As with cases, groups with a difference are asked again.
func (c Corpus) Compare(ctx context.Context, ask Ask, progress func(stage string, done, of int)) (*regress.Behaviour, error) {
	first, err := c.once(ctx, "", ask, progress)
	if err != nil {
		return nil, err
	}
	b := &regress.Behaviour{Answers: []regress.Answer{}, CorpusRequests: c.Requests(), NotCompared: byReason(first.NotCompared)}
	again := Corpus{Known: c.Known}
	for _, group := range c.Groups {
		if slices.ContainsFunc(first.Differences, func(d diff.Difference) bool { return d.Case == corpusFolder+"/"+group.Name }) {
			again.Groups = append(again.Groups, group)
		}
	}
	if len(again.Groups) == 0 {
		return b, nil
	}
	second, err := again.once(ctx, ", again", ask, progress)
	if err != nil {
		return nil, err
	}
	confirm(b, first.Differences, second, sameStep)
	return b, nil
}

// sameStep reports whether two differences concern the same request. It ignores the line, which depends on
// the other recorded requests.
func sameStep(a, b diff.Difference) bool { return a.Case == b.Case && a.Step == b.Step }

// once records the answers of the base, and sends the same requests to the head.
func (c Corpus) once(ctx context.Context, suffix string, ask Ask, progress func(string, int, int)) (diff.Document, error) {
	recording, err := derive.NewRecording(c.Groups, corpusFolder, c.Known)
	if err != nil {
		return diff.Document{}, err
	}
	counted := func(side string, of int) func(behave.Result) {
		done := 0
		return func(behave.Result) {
			done++
			progress("requests of the corpus on "+side+suffix, done, of)
		}
	}
	base, err := ask(ctx, Question{Side: regress.SideBase, Cases: recording.Asked(), Done: counted(regress.SideBase, len(c.Groups)), Recorded: recording.Add})
	if err != nil {
		return diff.Document{}, fmt.Errorf("sending the requests of the corpus to %s: %w", regress.SideBase, err)
	}
	cases, lost, err := c.recorded(recording, base)
	if err != nil {
		return diff.Document{}, err
	}
	head, err := ask(ctx, Question{Side: regress.SideHead, Cases: cases, Done: counted(regress.SideHead, len(cases))})
	if err != nil {
		return diff.Document{}, fmt.Errorf("sending the requests of the corpus to %s: %w", regress.SideHead, err)
	}
	d := diff.WithRecorded(head)
	d.NotCompared = append(lost, d.NotCompared...)
	return d, nil
}

// recorded returns the groups as cases that expect what the base answered, and those that it did not
// answer.
func (c Corpus) recorded(recording *derive.Recording, base casereport.Document) (cases []*behave.Case, lost []diff.NotCompared, err error) {
	for n, group := range c.Groups {
		name := corpusFolder + "/" + group.Name
		complete := recording.Case(n)
		if complete == nil {
			lost = append(lost, diff.NotCompared{Case: name, Why: reasonOf(base, name)})
			continue
		}
		text, err := derive.File(complete)
		if err != nil {
			return nil, nil, err
		}
		// It is read again so that its steps have lines.
		one, err := behave.Parse(name+".yaml", text, c.Known)
		if err != nil {
			return nil, nil, fmt.Errorf("the case that was recorded is not valid, which is a bug of windtunnel: %w", err)
		}
		one.Name = name
		cases = append(cases, one)
	}
	return cases, lost, nil
}

// reasonOf returns why a case has no answers.
func reasonOf(d casereport.Document, name string) string {
	for _, c := range d.Cases {
		if c.Case == name && c.Reason != "" {
			return strings.TrimSpace(string(c.Outcome) + " on A: " + c.Reason)
		}
	}
	return "no answer from A"
}
