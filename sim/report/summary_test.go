package report

import (
	"slices"
	"testing"

	"windtunnel.dev/sim/measure"
)

// Every figure with a label has one row, and the last row stays the last.
func TestFiguresHaveRows(t *testing.T) {
	for _, f := range measure.Figures() {
		n := 0
		for _, r := range rows {
			if r.Label == f.Label && f.Label != "" {
				n++
			}
		}
		if want := min(len(f.Label), 1); n != want {
			t.Errorf("%s has %d rows, want %d", f.Name, n, want)
		}
	}
	few := withFigures([]row{{Label: "first"}, {Label: "last"}})
	if few[0].Label != "first" || few[len(few)-1].Label != "last" || !slices.ContainsFunc(few, func(r row) bool { return r.Label == "reloads" }) {
		t.Errorf("%d rows, from %s to %s", len(few), few[0].Label, few[len(few)-1].Label)
	}
	if got := few[1].cell(measure.Subject{Reloads: 1234}); len(got) != 1 || got[0] != "1,234" {
		t.Errorf("%s shows %q", few[1].Label, got)
	}
}
