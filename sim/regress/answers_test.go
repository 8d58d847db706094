package regress_test

import (
	"context"
	"testing"

	"windtunnel.dev/sim/regress"
)

// If only one controller serves nothing, that is a difference. If neither serves, nothing was compared.
func TestNotServing(t *testing.T) {
	for sides, want := range map[string]regress.Outcome{
		regress.SideBase: regress.Differs, regress.SideHead: regress.Differs, regress.SidesBoth: regress.Void, "": regress.Same,
	} {
		found := &regress.Behaviour{Answers: []regress.Answer{}}
		if sides != "" {
			found.NotServing = &regress.NotServing{Sides: sides}
		}
		r, err := regress.Run(t.Context(), regress.Options{
			Parts:     []regress.Part{regress.BehaviourPart},
			Behaviour: func(context.Context, func(string, int, int)) (*regress.Behaviour, error) { return found, nil },
		})
		if err != nil || r.Outcome != want {
			t.Errorf("%q: %v, %v; want %s", sides, r, err, want)
		}
	}
}
