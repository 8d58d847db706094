package main

import (
	"fmt"
	"io"
	"os"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave/mutate"
)

// readReasons reads the file of --reasons, if it is given.
func (o caseMutateOptions) readReasons() ([]mutate.Reason, error) {
	if o.reasons == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.reasons)
	if err != nil {
		return nil, err
	}
	return mutate.ParseReasons(o.reasons, string(text))
}

// warnOfStale prints a warning if reasons match none of the mutants, for example because a line has
// changed.
func (o caseMutateOptions) warnOfStale(out io.Writer, mutants []mutate.Mutant, reasons []mutate.Reason) {
	if stale := mutate.Stale(mutants, reasons); len(stale) > 0 {
		fmt.Fprintf(out, "warning: %s: %d of %s match no mutant of these cases; the first is in line %d\n", o.reasons, len(stale), plural.Of(len(reasons), "reason"), stale[0].Line)
	}
}
