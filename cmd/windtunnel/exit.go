package main

import (
	"fmt"

	"windtunnel.dev/sim/judge"
)

// The exit codes, the same for every command.
const (
	exitOK          = 0
	exitFailed      = 1   // the subject did not do what was expected
	exitBadInput    = 2   // the command could not do its work with what it was given
	exitVoid        = 3   // the run says nothing: the machine or the generator was too slow
	exitSkipped     = 4   // the driver cannot do what the scenario asks for
	exitInterrupted = 130 // as shells count it
)

// exitCodes are the exit codes of all outcomes. An error that has no outcome has the code of
// judge.NotRun.
var exitCodes = map[judge.Outcome]int{
	judge.Passed:      exitOK,
	judge.Failed:      exitFailed,
	judge.NotRun:      exitBadInput,
	judge.Void:        exitVoid,
	judge.Skipped:     exitSkipped,
	judge.Interrupted: exitInterrupted,
}

// outcomeError is the error of a command that did its work, and already told the user the
// outcome. Only the exit code is left.
type outcomeError judge.Outcome

func (e outcomeError) Error() string { return fmt.Sprint("outcome: ", string(e)) }

// exitWith returns the error that makes a command exit with the code of an outcome; nil for
// judge.Passed.
func exitWith(o judge.Outcome) error {
	if o == judge.Passed {
		return nil
	}
	return outcomeError(o)
}
