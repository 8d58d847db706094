package probe

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// sample has the workers found at a time, written PID@START, with - for a draining one; times are in
// milliseconds since boot. The expected news are PID:GENERATION with +, - or x for active, draining
// and exited.
type sample struct {
	at    int
	found string
	news  string
}

func TestGenerations(t *testing.T) {
	start := sample{1005, "1@1000 2@1000", "1:1+ 2:1+"}
	for name, samples := range map[string][]sample{
		"a reload that drains": {start,
			{1515, "1@1000 2@1000 3@1510", "3:2+"},
			{1525, "1@1000 2@1000 3@1510 4@1510", "4:2+"},
			{1625, "1@1000- 2@1000 3@1510 4@1510", "1:1-"},
			{1635, "1@1000- 2@1000- 3@1510 4@1510", "2:1-"},
			{1645, "3@1510 4@1510", "1:1x 2:1x"},
		},
		"idle workers end without being seen to drain": {start,
			{1515, "1@1000 2@1000 3@1510 4@1510", "3:2+ 4:2+"},
			{1625, "3@1510 4@1510", "1:1x 2:1x"},
			{2015, "3@1510 4@1510 5@2010 6@2010", "5:3+ 6:3+"},
		},
		"new workers that take long to begin": {start,
			{1515, "1@1000 2@1000", ""},
			{1605, "1@1000 2@1000", ""},
			{1625, "", "1:1x 2:1x"},
			{1695, "3@1510 4@1510", "3:2+ 4:2+"},
		},
		"a crashed worker is replaced": {start,
			{1505, "1@1000 2@1000", ""},
			{1515, "1@1000 3@1510", "2:1x 3:1+"},
			{2015, "1@1000 3@1510 4@2010 5@2010", "4:2+ 5:2+"},
		},
		"a crashed worker is replaced a sample later": {start,
			{1505, "1@1000 2@1000", ""},
			{1515, "1@1000", "2:1x"},
			{1525, "1@1000 3@1510", "3:1+"},
		},
		"all workers crash": {start,
			{1505, "1@1000 2@1000", ""},
			{1515, "3@1510 4@1510", "1:1x 2:1x 3:1+ 4:1+"},
		},
		"a crashed worker that is not replaced does not count in the next reload": {start,
			{1505, "1@1000 2@1000", ""},
			{1515, "1@1000", "2:1x"},
			{3005, "1@1000", ""},
			{3015, "1@1000 3@3010 4@3010", "3:2+ 4:2+"},
		},
		"a sample too late to see old and new together": {start,
			{1905, "3@1510 4@1510", "1:1x 2:1x 3:2+ 4:2+"},
		},
		"a sample too late that finds one of the old draining": {start,
			{1905, "1@1000- 3@1510 4@1510", "1:1- 2:1x 3:2+ 4:2+"},
		},
		"a sample too late for two reloads": {start,
			{2105, "3@1510- 4@1510- 5@1710 6@1710", "1:1x 2:1x 3:2- 4:2- 5:3+ 6:3+"},
		},
		"reloads back to back": {start,
			{1515, "1@1000 2@1000 3@1510 4@1510", "3:2+ 4:2+"},
			{1615, "1@1000- 2@1000- 3@1510 4@1510 5@1610", "1:1- 2:1- 5:3+"},
			{1625, "3@1510 4@1510 5@1610 6@1620", "1:1x 2:1x 6:3+"},
			{1715, "5@1610 6@1620", "3:2x 4:2x"},
		},
		"slowly forked workers are one generation": {start,
			{1515, "1@1000 2@1000 3@1510", "3:2+"},
			{1785, "1@1000 2@1000 3@1510 4@1780", "4:2+"},
		},
		"an old worker that never drains does not keep a generation open": {start,
			{1515, "1@1000 2@1000 3@1510 4@1510", "3:2+ 4:2+"},
			{1625, "1@1000 3@1510 4@1510", "2:1x"},
			{4015, "1@1000 3@1510 4@1510 5@4010 6@4010", "5:3+ 6:3+"},
		},
		"a delayed start is no reload": {start,
			{1255, "1@1000 2@1000 3@1250", "3:2+"},
			{6245, "1@1000 2@1000 3@1250", ""},
			{6255, "1@1000 2@1000 3@1250", "1:2+ 2:2+"},
			{7015, "1@1000 2@1000 3@1250 4@7010 5@7010", "4:3+ 5:3+"},
			{7115, "1@1000- 2@1000- 3@1250- 4@7010 5@7010", "1:2- 2:2- 3:2-"},
		},
		"workers that drain for long stay in their generation": {start,
			{1515, "1@1000 2@1000 3@1510 4@1510", "3:2+ 4:2+"},
			{1625, "1@1000- 2@1000- 3@1510 4@1510", "1:1- 2:1-"},
			{9015, "2@1000- 3@1510 4@1510", "1:1x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := newLineage(0, false)
			line.sampled = 995 * time.Millisecond
			for i, l := range samples {
				// The samples between two rows of the table find the same as the first row.
				if i > 0 && samples[i].at-samples[i-1].at > 10 && !strings.Contains(name, "too late") {
					line.update(time.Duration(l.at-10)*time.Millisecond, sightings(t, samples[i-1].found))
				}
				news := line.update(time.Duration(l.at)*time.Millisecond, sightings(t, l.found))
				if got := newsString(news); got != l.news {
					t.Fatalf("sample at %d ms, which found %q: news %q, want %q", l.at, l.found, got, l.news)
				}
			}
		})
	}
}

// Forked workers: each is a generation of its own, and all but the newest one alive drain.
func TestGenerationsOfForkedWorkers(t *testing.T) {
	line := newLineage(0, true)
	for _, l := range []sample{
		{1005, "1@1000", "1:1+"},
		{1015, "1@1000", ""},
		{1025, "1@1000 2@1020", "1:1- 2:2+"},
		{1035, "1@1000 2@1020 4@1030 3@1030", "2:2- 3:3- 4:4+"},
		{1045, "4@1030 2@1020", "1:1x 3:3x"},
		{1055, "2@1020", "2:2+ 4:4x"}, // the newest one could not start: the previous one is active again
		{1065, "2@1020 5@1060", "2:2- 5:5+"},
		{1075, "", "2:2x 5:5x"},
		{1085, "6@1080", "6:6+"},
	} {
		news := line.update(time.Duration(l.at)*time.Millisecond, sightings(t, l.found))
		if got := newsString(news); got != l.news {
			t.Errorf("sample at %d ms, which found %q: news %q, want %q", l.at, l.found, got, l.news)
		}
	}
}

func sightings(t *testing.T, found string) []workerSample {
	var all []workerSample
	for field := range strings.FieldsSeq(found) {
		s := workerSample{state: event.Active}
		field, draining := strings.CutSuffix(field, "-")
		if draining {
			s.state = event.Draining
		}
		var ms int
		if _, err := fmt.Sscanf(field, "%d@%d", &s.pid, &ms); err != nil {
			t.Fatalf("%q: %v", field, err)
		}
		s.started = time.Duration(ms) * time.Millisecond
		all = append(all, s)
	}
	return all
}

func newsString(news []Worker) string {
	slices.SortStableFunc(news, func(a, b Worker) int { return a.PID - b.PID })
	sign := map[event.WorkerState]string{event.Active: "+", event.Draining: "-", event.Exited: "x"}
	var words []string
	for _, w := range news {
		words = append(words, fmt.Sprintf("%d:%d%s", w.PID, w.Generation, sign[w.State]))
	}
	return strings.Join(words, " ")
}
