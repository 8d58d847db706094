package main

import (
	"testing"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/judge"
)

// Every outcome has an exit code and a word in the table of verify.
func TestEveryOutcomeHasAnExitCode(t *testing.T) {
	codes := map[int]judge.Outcome{}
	for _, o := range judge.Outcomes {
		code, found := exitCodes[o]
		if !found || outcomeWords[o] == "" {
			t.Errorf("%s has no exit code or no word", o)
		}
		if other := codes[code]; other != "" {
			t.Errorf("%s and %s have the same exit code", o, other)
		}
		codes[code] = o
		if err := exitWith(o); (err == nil) != (code == exitOK) {
			t.Errorf("%s: %v", o, err)
		}
	}
}

func TestEveryComparisonHasAnExitCode(t *testing.T) {
	for _, o := range []compare.Outcome{compare.SomeWorse, compare.Void, compare.CannotSay, compare.NoneWorse} {
		if _, found := exitCodes[comparisonOutcomes[o]]; !found {
			t.Errorf("%s has no exit code", o)
		}
	}
}
