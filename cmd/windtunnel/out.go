package main

import (
	"os"
	"time"

	"windtunnel.dev/sim/rundir"
)

// makeOut makes a default folder if the user named none for the results. removeEmpty removes it again if
// nothing was written to it.
func makeOut(out *string, name string) (removeEmpty func(), err error) {
	if *out != "" {
		return func() {}, nil
	}
	*out, err = rundir.Default(name, time.Now())
	return func() { _ = os.Remove(*out) }, err
}
