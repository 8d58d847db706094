package report

import (
	"cmp"
	"fmt"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/regress"
)

// behaviourLines says what the cases found, a line for each fact.
func behaviourLines(b *regress.Behaviour) []string {
	if b == nil {
		return nil
	}
	if why := cmp.Or(b.Skipped, b.Unable); why != "" {
		return []string{"no case was run: " + why}
	}
	if down := b.NotServing; down != nil {
		who := down.Sides
		if who == regress.SidesBoth {
			who = "both sides"
		}
		return []string{fmt.Sprintf("no case was run: on %s, %s", who, down.Reason)}
	}
	compared := plural.Of(b.Cases, "case") + " compared"
	if b.LeftOut > 0 {
		compared += fmt.Sprintf(", %d left out because both sides render the same for them", b.LeftOut)
	}
	all := []string{compared}
	if b.CorpusRequests+b.CorpusLeftOut+b.CorpusSame > 0 {
		asked := plural.Of(b.CorpusRequests, "request") + " of the corpus sent to both sides"
		if b.CorpusLeftOut > 0 {
			asked += fmt.Sprintf(", %d left out (--corpus-requests)", b.CorpusLeftOut)
		}
		if b.CorpusSame > 0 {
			asked += fmt.Sprintf(", %d left out because both sides render the same for them", b.CorpusSame)
		}
		all = append(all, asked)
	}
	if len(b.Answers) > 0 {
		all = append(all, "cases with a difference were repeated on both sides, and differ again")
	}
	if b.Unstable > 0 {
		all = append(all, plural.Of(b.Unstable, "step")+" differed only once, not counted: "+strings.Join(b.UnstableCases, ", "))
	}
	if len(b.BothFail) > 0 {
		all = append(all, "fail on both sides in the same way: "+strings.Join(b.BothFail, ", "))
	}
	for _, text := range b.NotCompared {
		all = append(all, "not compared: "+text)
	}
	return all
}

// answerSentence says how answers differ.
func answerSentence(a regress.Answer) string {
	parts := make([]string, 0, len(a.Values))
	for _, v := range a.Values {
		parts = append(parts, fmt.Sprintf("%s: %s, was %s", v.What, v.Head, v.Base))
	}
	return fmt.Sprintf("%s, %s: %s", plural.Of(len(a.Cases), "case"), a.Effect, strings.Join(parts, "; "))
}

// answerPlace names the first step of a kind.
func answerPlace(a regress.Answer) string { return a.Place + ": " + a.Request }
