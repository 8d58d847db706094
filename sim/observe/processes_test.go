package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/event"
)

// The output of two pods becomes the log of one installation: PIDs differ, and usage is summed up.
func TestReadInside(t *testing.T) {
	var log bytes.Buffer
	ob := &observation{log: event.NewLog(&log, time.Now()), controllers: &controllers{}}
	print := func(number int, events ...event.Event) {
		t.Helper()
		var lines bytes.Buffer
		for _, e := range events {
			if err := json.NewEncoder(&lines).Encode(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := ob.readInside(&lines, fmt.Sprintf("pod-%d", number), number); err != nil {
			t.Fatal(err)
		}
	}
	ob.controllers.inside.add()
	ob.controllers.inside.add()
	const days = 100 * time.Hour // the other clock
	for number := 1; number <= 2; number++ {
		print(number,
			event.Event{At: days, Worker: &event.Worker{PID: 30, Master: 20, Generation: 1, State: event.Active}},
			event.Event{At: days, Usage: &event.Usage{NginxRSS: 100, NginxPSS: 50, Workers: 1, Generations: 1, ByGeneration: []event.Generation{{Master: 20, Generation: 1}}}},
		)
	}
	if err := ob.log.Close(); err != nil {
		t.Fatal(err)
	}
	var workers []event.Worker
	var last event.Usage
	usages := 0
	for e, err := range event.Read(&log) {
		if err != nil {
			t.Fatal(err)
		}
		if e.At < 0 || e.At > time.Minute || e.Subject != subjectName {
			t.Errorf("event %+v", e)
		}
		if e.Worker != nil {
			workers = append(workers, *e.Worker)
		} else {
			last = *e.Usage
			usages++
		}
	}
	if usages != 1 {
		t.Errorf("%d sums, want one: of both pods", usages)
	}
	if len(workers) != 2 || workers[0].PID != 30 || workers[1].PID != 30+mostPIDs || workers[1].Master != 20+mostPIDs || workers[0].Pod != "pod-1" || workers[1].Pod != "pod-2" {
		t.Errorf("workers %+v", workers)
	}
	if last.NginxRSS != 200 || last.NginxPSS != 100 || last.Workers != 2 || len(last.ByGeneration) != 2 || last.ByGeneration[0].Master == last.ByGeneration[1].Master {
		t.Errorf("usage %+v", last)
	}
}

func TestAnotherImage(t *testing.T) {
	ob := &observation{log: event.NewLog(nowhere{}, time.Now()), controllers: &controllers{}}
	if err := ob.readInside(strings.NewReader("usage: other\n"), "pod", 1); err == nil || !strings.Contains(err.Error(), "use an image that contains windtunnel") {
		t.Errorf("error %v", err)
	}
}

// readInside reads the output of Inside.
func TestInside(t *testing.T) {
	a, err := adapters.Find(adapters.Default)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var printed bytes.Buffer
	Inside(ctx, &printed, a.Processes, 1<<22) // no such process: only a trouble is printed
	ob := &observation{log: event.NewLog(nowhere{}, time.Now()), controllers: &controllers{}}
	ob.controllers.inside.add()
	troubles := 0
	ob.log.Tap(func(e event.Event) {
		if e.Trouble != nil {
			troubles++
		}
	})
	if err := ob.readInside(&printed, "pod", 1); err != nil || troubles == 0 {
		t.Errorf("%d troubles, %v", troubles, err)
	}
}

// If the log of a container ends before the observation, its workers are gone, and those of others are not.
func TestInsideEnds(t *testing.T) {
	ob := &observation{log: event.NewLog(nowhere{}, time.Now()), controllers: &controllers{}}
	var exited []int
	var trouble string
	ob.log.Tap(func(e event.Event) {
		switch {
		case e.Worker != nil && e.Worker.State == event.Exited:
			exited = append(exited, e.Worker.PID)
		case e.Trouble != nil:
			trouble = e.Trouble.What + ": " + e.Trouble.Detail
		}
	})
	for number, state := range map[int]event.WorkerState{1: event.Active, 2: event.Draining} {
		ob.controllers.inside.add()
		ob.writeInside(event.Event{Worker: &event.Worker{PID: 30, Master: 20, State: state}}, "pod", number)
	}
	ob.endInside("pod", 2, nil)
	if !slices.Equal(exited, []int{30 + mostPIDs}) || trouble != "the processes of pod cannot be observed: the log of its ephemeral container ended" {
		t.Errorf("exited %v, trouble %q", exited, trouble)
	}
	if ob.endInside("pod", 2, nil); len(exited) != 1 {
		t.Errorf("exited again: %v", exited)
	}
}
