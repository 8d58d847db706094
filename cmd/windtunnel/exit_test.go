package main

import (
	"context"
	"errors"
	"fmt"
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

// A command that a signal ended has the exit code of an interrupt, if nothing else is wrong.
func TestExitCodeOfErrors(t *testing.T) {
	interrupt, broken := errors.New("interrupt signal received"), errors.New("broken")
	ended, end := context.WithCancelCause(t.Context())
	end(interrupt)
	for _, test := range []struct {
		ctx  context.Context
		err  error
		want int
	}{
		{t.Context(), nil, exitOK},
		{t.Context(), broken, exitBadInput},
		{t.Context(), context.Canceled, exitBadInput},
		{t.Context(), exitWith(judge.Void), exitVoid},
		{ended, nil, exitOK},
		{ended, fmt.Errorf("starting: %w", interrupt), exitInterrupted},
		{ended, fmt.Errorf("starting: %w", context.Canceled), exitInterrupted},
		{ended, broken, exitBadInput},
		{ended, exitWith(judge.Failed), exitFailed},
	} {
		if got := codeOf(test.ctx, test.err); got != test.want {
			t.Errorf("%v, context %v: %d, want %d", test.err, test.ctx.Err(), got, test.want)
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
