package run_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/run"
)

// A live run sets and removes the settings that cases cover, and reports reloads and unseen changes.
func TestLive(t *testing.T) {
	o := options(t, load(t, "testdata/cases/live/*.yaml")...)
	o.Bound = 2 * time.Second
	var done []string
	o.Done = func(r behave.Result) { done = append(done, r.Case) }
	results, err := run.Live(t.Context(), o)
	if err != nil {
		t.Error(err)
	}
	want := map[string]behave.Outcome{
		"live/reload": behave.Passed, "live/dynamic": behave.Passed, "live/config": behave.Passed, "live/counts": behave.Passed,
		"live/earlier": behave.Passed, "live/never": behave.Failed, "live/default": behave.Skipped,
	}
	for _, r := range results {
		if r.Outcome != want[r.Case] || !slices.Contains(done, r.Case) {
			t.Errorf("%s %s, want %s: %s %v", r.Case, r.Outcome, want[r.Case], r.Reason, r.Failures)
			continue
		}
		dynamic, known := r.Live[0].Dynamic()
		switch r.Case {
		case "live/reload", "live/config", "live/dynamic":
			if !known || dynamic != (r.Case == "live/dynamic") || r.Live[0].Set.Took <= 0 || r.Live[0].Removed.Took <= 0 || len(r.Live[0].Set.Why) == 0 {
				t.Errorf("%s: %+v %+v %+v", r.Case, r.Live[0], r.Live[0].Set, r.Live[0].Removed)
			}
		case "live/counts":
			if !known || r.Live[0].Set.Took != 0 {
				t.Errorf("requests that cannot be repeated: %+v %+v", r.Live[0], r.Live[0].Set)
			}
		case "live/earlier":
			if known {
				t.Errorf("nothing is seen, but there is a finding: %+v", r.Live[0])
			}
		case "live/never":
			if len(r.Failures) == 0 || !strings.Contains(r.Failures[0].Error(), "annotation/rewrite-target is set, but not seen within 2s") {
				t.Errorf("%v", r.Failures)
			}
		}
	}
}
