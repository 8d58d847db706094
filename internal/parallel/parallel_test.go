package parallel_test

import (
	"flag"
	"os"
	"testing"

	"windtunnel.dev/internal/parallel"
)

const atOnce = 3

var given = ""

func TestMain(m *testing.M) {
	flag.Parse()
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "test.parallel" {
			given = f.Value.String()
		}
	})
	os.Exit(parallel.Tests{M: m, AtOnce: atOnce}.Run())
}

func TestLimit(t *testing.T) {
	want := "3"
	if given != "" {
		want = given
	}
	if got := flag.Lookup("test.parallel").Value.String(); got != want {
		t.Errorf("%s tests run in parallel, want %s", got, want)
	}
}

// Three tests that wait for each other must run in parallel.
func TestWaitingTestsRunInParallel(t *testing.T) {
	if given != "" {
		t.Skip("-parallel is given")
	}
	arrived := make(chan struct{})
	for range atOnce - 1 {
		t.Run("one", func(t *testing.T) {
			t.Parallel()
			arrived <- struct{}{}
		})
	}
	t.Run("last", func(t *testing.T) {
		t.Parallel()
		for range atOnce - 1 {
			<-arrived
		}
	})
}
