package report

import (
	"fmt"
	"math"
	"strings"

	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/history/trend"
	"windtunnel.dev/sim/report"
)

// headline returns the outcome in words.
func (d Document) headline() string {
	checked := fmt.Sprintf("the newest %d of %s", min(d.Recent, len(d.Trend.Commits)), plural.Of(len(d.Trend.Commits), "commit"))
	if d.Recent >= len(d.Trend.Commits) {
		checked = plural.Of(len(d.Trend.Commits), "commit")
	}
	switch d.Outcome {
	case SomeWorse:
		return fmt.Sprintf("%s worse in %s", plural.Of(len(d.failing()), "figure is", "figures are"), checked)
	case CannotSay:
		return fmt.Sprintf("too few runs to tell: %s measured", plural.Of(len(d.Trend.Commits), "commit is", "commits are"))
	}
	return "no figure is worse in " + checked
}

// sentence describes a step: cpu.nginx of dynamic in storm rose by 25 %, from 10.0 s to 12.5 s.
func (s Step) sentence() string {
	scenario := s.Scenario
	if s.Of != "" {
		scenario += " (setup " + s.Of + ")"
	}
	return fmt.Sprintf("%s of %s in %s %s", s.Figure, s.Subject, scenario, s.movement())
}

// movement describes the change of a step: rose by 25 %, from 10.0 s to 12.5 s.
func (s Step) movement() string {
	verb := ifElse(s.After > s.Before, "rose", "fell")
	if s.Before == 0 {
		return fmt.Sprintf("%s from %s to %s", verb, s.show(s.Before), s.show(s.After))
	}
	return fmt.Sprintf("%s by %.0f %%, from %s to %s", verb, math.Abs(100*s.Change), s.show(s.Before), s.show(s.After))
}

// show formats a value of the step's figure.
func (s Step) show(value float64) string { return report.Value(s.Kind, value) }

// percent formats the change of a step: +25 %, or from 0.
func (s Step) percent() string {
	if s.Before == 0 {
		return "from 0"
	}
	return fmt.Sprintf("%+.0f %%", 100*s.Change)
}

// remark returns why a step for the worse, or one at a change of the machine, does not fail the check.
// It is empty if no reason is needed.
func (s Step) remark() string {
	switch {
	case s.Verdict == trend.Environment:
		return "change of environment: " + differences(s.Differences)
	case s.Explained != "":
		return "explained: " + s.Explained
	case s.Verdict == trend.Worse && !s.Lasting:
		return "it has gone since"
	case s.Verdict == trend.Worse && !s.Recent:
		return "not recent"
	}
	return ""
}

func differences(all []trend.Difference) string {
	var texts []string
	for _, d := range all {
		texts = append(texts, fmt.Sprintf("%s from %s to %s", d.Name, strings.Join(d.Before, ", "), strings.Join(d.After, ", ")))
	}
	return strings.Join(texts, "; ")
}

// doubt describes the probability that the step is chance. The number of permutations limits how small
// p can get.
func (s Step) doubt() string {
	if s.P == 0 {
		return "every run"
	}
	return fmt.Sprintf("p ≤ %.2g", s.P)
}

// shortHash abbreviates a hash.
func shortHash(hash string) string { return hash[:min(len(hash), 10)] }

// where names the commits of a step: one, or how many of them.
func (s Step) where() string {
	if len(s.Commits) == 1 {
		return named(s.Commits[0])
	}
	return fmt.Sprintf("%s after %s up to %s", plural.Of(len(s.Commits), "commit"), shortHash(s.From.Hash), named(s.To))
}

func named(c gitrepo.Commit) string { return fmt.Sprintf("%s %q", shortHash(c.Hash), c.Subject) }

// link returns the page of a step's commits, or "" if the repository has none.
func (d Document) link(s Step) string {
	if len(s.Commits) == 1 {
		return d.Web.Commit(s.Commits[0].Hash)
	}
	return d.Web.Compare(s.From.Hash, s.To.Hash)
}

// setupName names a setup: A, B … AA.
func setupName(i int) string {
	const letters = 26
	name := string(rune('A' + i%letters))
	if i >= letters {
		return setupName(i/letters-1) + name
	}
	return name
}
