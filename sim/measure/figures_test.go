package measure_test

import (
	"slices"
	"testing"

	"windtunnel.dev/sim/measure"
)

// Each figure that varies has a budget. Names and labels are unique.
func TestFigures(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range measure.Figures() {
		if b := f.Budget; f.Kind.Varies() && (b.More <= 0 || b.Rel <= 0) {
			t.Errorf("%s varies and has the budget %+v", f.Name, b)
		}
		if f.Doc == "" || f.Unit == "" || f.Of == nil {
			t.Errorf("%+v is not complete", f)
		}
		for _, name := range []string{"name " + f.Name, "unit " + f.Unit, "label " + f.Label} {
			if seen[name] && name != "label " {
				t.Errorf("two figures have the name or label %q", name)
			}
			seen[name] = true
		}
	}
}

// A figure without data includes its dependent fields.
func TestFiguresWithoutData(t *testing.T) {
	empty := measure.Unseen(measure.Subject{})
	for _, path := range []string{"changes.unconverged", "converge.flaps", "posts.count", "posts.bytes", "syncs.count", "syncs.failed", "start.unserved", "balance.hottest", "balance.idle", "certificates.unseen", "memory.peakRSS", "memory.growth", "memory.endPSS", "cpu.nginx", "cpu.controller", "lanes", "struck", "workers.history", "workers.left", "heap", "dictionaries"} {
		if !slices.Contains(empty, path) {
			t.Errorf("%s has data in an empty subject", path)
		}
	}
	var s measure.Subject
	s.Posts.Visible, s.Memory.PeakRSS, s.CPU.Nginx, s.Lanes = true, 1, 1, []measure.Lane{{}}
	full := measure.Unseen(s)
	for _, path := range []string{"posts.count", "syncs.failed", "memory.growth", "cpu.controller", "lanes"} {
		if slices.Contains(full, path) {
			t.Errorf("%s has no data: %v", path, full)
		}
	}
}
