package hunt

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/behave/mutate"
)

// tryTogetherWith tries the mutants of newHunt, all of which survived so far; run returns the verdict of
// each run.
func tryTogetherWith(t *testing.T, run func(mutants, cases []string) verdict) map[string]mutate.Outcome {
	t.Helper()
	h := newHunt(t)
	h.Workers = 1
	keepState(t, h)
	for _, m := range h.Mutants {
		h.settle(mutate.Result{Mutant: m, Outcome: mutate.Survived, Reached: len(h.reaching(m))})
	}
	h.runs = func(_ context.Context, mutants []mutate.Mutant, cases []string, _ time.Duration, _ int) (verdict, error) {
		t.Logf("cases %v under %v", cases, names(mutants))
		return run(names(mutants), cases), nil
	}
	if err := h.tryTogether(t.Context()); err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]mutate.Outcome{}
	for _, m := range h.Mutants {
		r, _ := h.result(m)
		outcomes[m.Position()] = r.Outcome
		if r.Outcome == mutate.Survived && r.Ran != r.Reached {
			t.Errorf("%s survived %d of %d cases", m.Position(), r.Ran, r.Reached)
		}
	}
	return outcomes
}

// fails returns the verdict on cases of which those in failing fail.
func fails(as mutate.Outcome, cases []string, failing ...string) verdict {
	v := verdict{outcome: mutate.Survived}
	for _, name := range cases {
		if slices.Contains(failing, name) {
			v.outcome, v.by = as, append(v.by, name)
		} else {
			v.passed = append(v.passed, name)
		}
	}
	return v
}

func TestGroups(t *testing.T) {
	const gzip, cors, auth = "a.tmpl:1", "a.tmpl:2", "a.tmpl:3"
	for name, test := range map[string]struct {
		run  func(mutants, cases []string) verdict
		want map[string]mutate.Outcome
	}{
		"no case fails": {
			run:  func(_, cases []string) verdict { return fails(mutate.Killed, cases) },
			want: map[string]mutate.Outcome{gzip: mutate.Survived, cors: mutate.Survived, auth: mutate.Survived},
		},
		"one mutant is to blame": {
			run: func(mutants, cases []string) verdict {
				if slices.Contains(mutants, cors) {
					return fails(mutate.Killed, cases, "both")
				}
				return fails(mutate.Killed, cases)
			},
			want: map[string]mutate.Outcome{gzip: mutate.Survived, cors: mutate.Killed, auth: mutate.Survived},
		},
		"nginx rejects what one case needs": {
			run: func(mutants, cases []string) verdict {
				if slices.Contains(mutants, gzip) {
					return fails(mutate.Stillborn, cases, "both")
				}
				return fails(mutate.Killed, cases)
			},
			want: map[string]mutate.Outcome{gzip: mutate.Stillborn, cors: mutate.Survived, auth: mutate.Survived},
		},
		"no controller starts under one mutant": {
			run: func(mutants, cases []string) verdict {
				if slices.Contains(mutants, auth) {
					return verdict{outcome: mutate.Stillborn}
				}
				return fails(mutate.Killed, cases, "cors")
			},
			want: map[string]mutate.Outcome{gzip: mutate.Survived, cors: mutate.Killed, auth: mutate.Stillborn},
		},
		"each mutant is to blame": {
			run:  func(_, cases []string) verdict { return fails(mutate.Killed, cases, "gzip", "both", "cors", "auth") },
			want: map[string]mutate.Outcome{gzip: mutate.Killed, cors: mutate.Killed, auth: mutate.Killed},
		},
		"a case fails under two mutants only": {
			run: func(mutants, cases []string) verdict {
				if len(mutants) > 1 {
					return fails(mutate.Killed, cases, "both")
				}
				return fails(mutate.Killed, cases)
			},
			want: map[string]mutate.Outcome{gzip: mutate.Survived, cors: mutate.Survived, auth: mutate.Survived},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, tryTogetherWith(t, test.run)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Mutants that have a reason to survive do not delay others.
func TestExcusedMutantsAreTriedLast(t *testing.T) {
	h := newHunt(t)
	keepState(t, h)
	for _, m := range h.Mutants {
		h.settle(mutate.Result{Mutant: m, Outcome: mutate.Survived, Reached: len(h.reaching(m))})
	}
	h.Excused = func(m mutate.Mutant) bool { return m.Position() == "a.tmpl:1" }
	var groups [][]string
	h.runs = func(_ context.Context, mutants []mutate.Mutant, cases []string, _ time.Duration, _ int) (verdict, error) {
		groups = append(groups, names(mutants))
		return fails(mutate.Killed, cases), nil
	}
	if err := h.tryTogether(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a.tmpl:2", "a.tmpl:3"}, {"a.tmpl:1"}}, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

// If no mutant of a group is to blame for a failed case, the case is run under each mutant alone.
func TestCasesThatFailInAGroupAreRunAlone(t *testing.T) {
	h := newHunt(t)
	keepState(t, h)
	guilty, innocent := h.Mutants[0], h.Mutants[1]
	h.runs = func(_ context.Context, mutants []mutate.Mutant, cases []string, _ time.Duration, _ int) (verdict, error) {
		if mutants[0].Name == guilty.Name {
			return fails(mutate.Killed, cases, "both"), nil
		}
		return fails(mutate.Killed, cases), nil
	}
	for m, want := range map[*mutate.Mutant]mutate.Outcome{&guilty: mutate.Killed, &innocent: mutate.Survived} {
		h.settle(mutate.Result{Mutant: *m, Outcome: mutate.Survived, Ran: 1, Reached: 2})
		if err := h.tryAlone(t.Context(), *m, []string{"both"}); err != nil {
			t.Fatal(err)
		}
		if r, _ := h.result(*m); r.Outcome != want || r.Ran != 2 {
			t.Errorf("%s: %s after %d cases, want %s after both", m.Position(), r.Outcome, r.Ran, want)
		}
	}
}
