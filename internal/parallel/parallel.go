// Package parallel runs more parallel tests at once than there are processors. Its one rule: the
// flag -parallel, if given, has the last word.
package parallel

import (
	"flag"
	"strconv"
	"testing"
)

const limit = "test.parallel"

// Tests are the tests of a package, of which at most AtOnce run in parallel. Without it, go test
// runs as many as there are processors: too few for tests that wait for other processes.
type Tests struct {
	*testing.M
	AtOnce int
}

// Run runs the tests and returns the exit code of the test binary.
func (t Tests) Run() int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == limit })
	if !given {
		if err := flag.Set(limit, strconv.Itoa(t.AtOnce)); err != nil {
			panic(err)
		}
	}
	return t.M.Run()
}
