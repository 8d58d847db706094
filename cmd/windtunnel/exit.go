package main

import (
	"context"
	"errors"
	"fmt"

	"windtunnel.dev/sim/judge"
)

// The exit codes, the same for every command.
const (
	exitOK           = 0
	exitFailed       = 1   // the subject did not meet the expectations
	exitBadInput     = 2   // the command could not run with the given input
	exitVoid         = 3   // the run is not conclusive: the machine or the generator was too slow
	exitSkipped      = 4   // the driver does not support what the scenario needs
	exitInapplicable = 5   // the run is measured, but no expectation applies to its subjects
	exitInterrupted  = 130 // 128 + SIGINT, as in shells
)

// exitCodes maps each outcome to its exit code. An error without an outcome gets the code of
// judge.NotRun.
var exitCodes = map[judge.Outcome]int{
	judge.Passed:      exitOK,
	judge.Failed:      exitFailed,
	judge.NotRun:      exitBadInput,
	judge.Void:        exitVoid,
	judge.Skipped:     exitSkipped,
	judge.Interrupted: exitInterrupted,

	judge.Inapplicable: exitInapplicable,
}

// outcomeError is the error of a command that has completed and has already printed its outcome. It
// only determines the exit code.
type outcomeError judge.Outcome

func (e outcomeError) Error() string { return fmt.Sprint("outcome: ", string(e)) }

// codeOf returns the exit code for the error of a command. If a signal has ended the command's
// context, an error that only reports this is an interrupt.
func codeOf(ctx context.Context, err error) int {
	var told outcomeError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &told):
		return exitCodes[judge.Outcome(told)]
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return exitInterrupted
	}
	return exitBadInput
}

// exitWith returns the error that makes a command exit with the code of an outcome. It returns nil
// for judge.Passed.
func exitWith(o judge.Outcome) error {
	if o == judge.Passed {
		return nil
	}
	return outcomeError(o)
}
