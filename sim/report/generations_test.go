package report

import (
	"fmt"
	"testing"
	"time"

	"windtunnel.dev/sim/measure"
)

func TestLives(t *testing.T) {
	timeline := measure.Timeline{Rounds: []measure.Round{{Begin: 10 * time.Second, End: 20 * time.Second}, {Begin: 50 * time.Second, End: 60 * time.Second}}}
	for _, test := range []struct {
		history measure.History
		want    generationRow
	}{
		{
			measure.History{Generation: 1, Workers: 2, Began: time.Second, Draining: 12 * time.Second, Ended: 15 * time.Second, PeakRSS: 2 << 20,
				Held: measure.Held{Samples: 3, Clients: 1200, Pods: 1}, Exits: map[string]int{"code 0": 1, "SIGKILL": 3, "untold": 2}},
			generationRow{"1", "before", "11.0 s", "3.00 s", "2", "2.00 MiB", "–", "1,200 of clients, 1 to pods", "3 by SIGKILL, 2 exit status unknown, 1 with code 0"},
		},
		{
			measure.History{Generation: 2, Workers: 1, Began: 12 * time.Second, Draining: 52 * time.Second, Ended: -1, PeakRSS: 3 << 20, PeakPSS: 1 << 20},
			generationRow{"2", "2.00 s", "40.0 s", "to the end", "1", "3.00 MiB", "1.00 MiB", "ended before the first sample", "–"},
		},
		{
			measure.History{Generation: 5, Workers: 1, Began: 12 * time.Second, Draining: 13 * time.Second, Ended: 14 * time.Second, Held: measure.Held{Samples: 1}},
			generationRow{"5", "2.00 s", "1.00 s", "1.00 s", "1", "–", "–", "none in the samples", "–"},
		},
		{
			measure.History{Generation: 3, Workers: 1, Began: 30 * time.Second, Draining: -1, Ended: 51 * time.Second, Exits: map[string]int{"SIGSEGV": 1}},
			generationRow{"3", "10.0 s", "21.0 s", "–", "1", "–", "–", "–", "1 by SIGSEGV"},
		},
		{
			measure.History{Generation: 4, Workers: 1, Began: 51 * time.Second, Draining: -1, Ended: -1},
			generationRow{"4", "11.0 s", "to the end", "–", "1", "–", "–", "–", "–"},
		},
	} {
		if got := generationRowOf(test.history, timeline, false); got != test.want {
			t.Errorf("generation %d:\n got %+v\nwant %+v", test.history.Generation, got, test.want)
		}
	}
}

// If there are many generations, the table lists those that drained longest, in order. If there are
// several masters, each is named.
func TestLivesOfMany(t *testing.T) {
	var s measure.Subject
	for i := range 30 {
		h := measure.History{Master: 1 + i/20, Generation: i, Began: time.Duration(i), Draining: 100, Ended: 100 + time.Duration(i%15)}
		if i == 3 {
			h.Ended = -1
		}
		if i == 14 {
			h.Draining = -1
		}
		s.Workers.History = append(s.Workers.History, h)
	}
	var got []string
	for _, l := range generationRows(s, measure.Timeline{}) {
		got = append(got, l.Generation)
	}
	want := "[3 of master 1 10 of master 1 11 of master 1 12 of master 1 13 of master 1 25 of master 2 26 of master 2 27 of master 2 28 of master 2 29 of master 2]"
	if fmt.Sprint(got) != want {
		t.Errorf("listed %v\nwant   %s", got, want)
	}
}
