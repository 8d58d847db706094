package run

import (
	"testing"

	"windtunnel.dev/sim/behave"
)

// An attempt that fails is repeated alone, and only the repetition decides.
func TestFailedAttemptIsRepeatedAlone(t *testing.T) {
	for _, last := range []behave.Outcome{behave.Passed, behave.Failed} {
		of, start := &behave.Case{Name: "a/b"}, &behave.Case{Name: "a/b"}
		changes := []behave.LiveChange{{Covers: "annotation/app-root", Outcome: behave.Passed}}
		tried := &trial{LiveChange: &changes[0], of: of}
		l := &live{
			results:  results{all: map[*behave.Case]behave.Result{}},
			trials:   map[*behave.Case]*trial{{}: tried},
			attempts: map[*behave.Case]*attempt{start: {trial: tried}},
			open:     map[*behave.Case]int{of: 1},
			changes:  map[*behave.Case][]behave.LiveChange{of: changes},
		}
		l.repeated(start, behave.Result{Outcome: behave.Failed})
		if len(l.results.all) > 0 || len(l.alone(false)) != 0 || len(l.alone(true)) != 1 {
			t.Fatalf("results %v; %d attempts beside others and %d alone", l.results.all, len(l.alone(false)), len(l.alone(true)))
		}
		l.repeated(start, behave.Result{Outcome: last, Failures: []behave.Failure{{Field: "status"}}})
		if got := l.results.all[of].Outcome; got != last {
			t.Errorf("the case is %s, want %s", got, last)
		}
	}
}
