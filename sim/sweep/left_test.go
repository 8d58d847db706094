package sweep_test

import (
	"slices"
	"testing"
	"time"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/sweep"
)

// The drain curve of a combination is the mean over all generations of its valid runs. Generations that
// have drained count as zeros; a run that ended before does not count.
func TestLeft(t *testing.T) {
	at := func(seconds, generations int, workers, clients, pods float64) measure.Left {
		return measure.Left{After: time.Duration(seconds) * time.Second, Generations: generations, Workers: workers, Clients: clients, Pods: pods}
	}
	curves := [][]measure.Left{
		{at(0, 1, 2, 30, 20), at(1, 1, 1, 10, 10), at(2, 1, 0, 0, 0)},
		{at(0, 3, 2, 10, 20), at(1, 3, 1, 6, 6), at(2, 1, 1, 4, 4), at(3, 1, 1, 2, 2)},
		{at(0, 1, 9, 99, 99)}, // of a void run
	}
	var d sweep.Document
	for i, left := range curves {
		d.Runs = append(d.Runs, sweep.Run{
			Combination: sweep.Combination{Number: 1}, Round: i + 1, Outcome: judge.Passed,
			Subjects: []sweep.SubjectValues{{Subject: "s", Valid: i < 2, Left: left}},
		})
	}
	d.Evaluate()
	want := []measure.Left{at(0, 4, 2, 15, 20), at(1, 4, 1, 7, 7), at(2, 2, 0.5, 2, 2), at(3, 2, 0.5, 1, 1)}
	if got := d.Rows[0].Left; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestValuesOfWithLeft(t *testing.T) {
	result := measure.Result{Subjects: []measure.Subject{{Name: "s", Workers: measure.Workers{Left: []measure.Left{{Generations: 1}}}}}}
	if with, without := sweep.ValuesOf(result, nil, true)[0], sweep.ValuesOf(result, nil, false)[0]; len(with.Left) != 1 || without.Left != nil {
		t.Errorf("%+v %+v", with, without)
	}
}
