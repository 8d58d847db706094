package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"windtunnel.dev/sim/specfile"
)

// Mutated returns the scenario with the mutation of its control, which must make it fail. It
// returns nil if the scenario has no control.
func (s *Scenario) Mutated() *Scenario {
	if s.Control == nil {
		return nil
	}
	mutated := *s
	mutated.Control = nil
	mutated.Subjects = slices.Clone(s.Subjects)
	for i := range mutated.Subjects {
		subject := &mutated.Subjects[i]
		subject.Flags = Over(subject.Flags, s.Control.Flags)
		subject.Config = Over(subject.Config, s.Control.Config)
	}
	mutated.Timeline = append(slices.Clone(s.Timeline), s.Control.Timeline...)
	slices.SortStableFunc(mutated.Timeline, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return &mutated
}

// Over returns the settings of both. Those of second take precedence.
func Over(first, second map[string]string) map[string]string {
	all := maps.Clone(first)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, second)
	return all
}

// control checks the tier, and that the control changes something and names expectations that
// exist.
func (c *checker) control() {
	if c.Tier != "" && !slices.Contains(Tiers, c.Tier) {
		c.Problem("unknown tier "+c.Tier, specfile.Choose(c.Tier, "tiers", Tiers), "spec", "tier")
	}
	if c.Control == nil {
		return
	}
	path := []any{"spec", "control"}
	if c.Control.What == "" {
		c.Problem("a control without a description", "add what: and a sentence", path...)
	}
	if len(c.Control.Flags)+len(c.Control.Config)+len(c.Control.Timeline) == 0 {
		c.Problem("a control that changes nothing", "add flags:, config: or timeline:", path...)
	}
	for i, step := range c.Control.Timeline {
		at := append(path, "timeline", i)
		c.notNegative(step.At, append(at, "at")...)
		switch actions := step.actions(); {
		case len(actions) != 1:
			c.Problem("a step of a control needs exactly one action", "make it fault:, apply: or delete:", at...)
		case step.Churn != "":
			c.Problem("a churn in a control", "make it fault:, apply: or delete:", at...)
		default:
			c.churn(step, at)
			c.fault(step, at)
			c.names(step, at)
			c.confirmation(step, append(at, "see"))
		}
	}
	c.controlFails(append(path, "fails"))
}

func (c *checker) controlFails(path []any) {
	if len(c.Control.Fails) == 0 {
		c.Problem("a control without an expectation that must fail", "add fails: with lines of expect", path...)
	}
	var all []string
	for _, e := range c.Expect {
		all = append(all, e.Expression)
	}
	for _, s := range c.Subjects {
		for _, e := range s.Expect {
			all = append(all, e.Expression)
		}
	}
	for i, text := range c.Control.Fails {
		if !slices.Contains(all, text) {
			c.Problem(fmt.Sprintf("%q is not an expectation of this file", text), specfile.Choose(text, "expectations", all), append(path, i)...)
		}
	}
}
