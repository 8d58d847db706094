package measure_test

import (
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
)

// What does not apply to a subject is in its result, and has no value as a figure.
func TestNotApplicable(t *testing.T) {
	log := append(measuretest.Log(1, 6*time.Second), event.Event{
		Subject: measuretest.Reload, NotApplicable: &event.NotApplicable{Measurements: []string{"reloads", "converge.way"}, Why: "it is one process"},
	})
	result, _, err := measure.From(measuretest.Seq(log))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range result.Subjects {
		lacks := s.Name == measuretest.Reload
		for name, applies := range map[string]bool{"reloads": !lacks, "converge.way.sync.p50": !lacks, "converge.last": true, "reload": true, "converge": true} {
			if why := s.WhyNot(name); (why == "") != applies || !applies && why != "it is one process" {
				t.Errorf("%s, %s: %q", s.Name, name, why)
			}
		}
		for _, f := range measure.Figures() {
			if _, has := f.Of(s); f.Name == "reloads" && has == lacks {
				t.Errorf("%s: a value: %v", s.Name, has)
			}
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"reloads", "converge", "converge.way.sync.p50", "workers.history"} {
		if err := measure.CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{
		"":                   "there is no measurement ",
		"reload":             "did you mean reloads?",
		"converge.way.snc":   "did you mean converge.way.sync?",
		"converge.way.other": "converge.way has reach, spread, sync, wait, write",
		"reloads.n":          "reloads has no fields",
		"nothing":            "there are balance, ",
	} {
		if err := measure.CheckName(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
