package measure

import (
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure/measuretest"
)

// A failure nginx-5xx counts as departed if a pod of its service was gone and a worker did not
// serve the change yet.
func TestDepartedPods(t *testing.T) {
	ms := time.Millisecond
	failed := func(at time.Duration, lane, service string, cause event.Cause) event.Event {
		return event.Event{At: at, Subject: "it", Request: &event.Request{Lane: lane, Service: service, Status: 502, Took: ms, Cause: cause}}
	}
	gone := func(at time.Duration, pod string) event.Event {
		return event.Event{At: at, Subject: "it", Pod: &event.Pod{Name: pod, Service: "demo/s", State: "gone"}}
	}
	answer := func(at time.Duration, change int, pod string) event.Event {
		return event.Event{At: at, Subject: "it", Answer: &event.Answer{Worker: 7, Change: change, Pod: pod, Service: "demo/s", Status: 200}}
	}
	result, _, err := From(measuretest.Seq([]event.Event{
		{Run: &event.Run{Schema: event.Schema, Subjects: []string{"it"}}},
		{At: 0, Subject: "it", Worker: &event.Worker{PID: 7, Generation: 1, State: event.Active}},
		{At: 0, Subject: "it", Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
		failed(50*ms, "http", "demo/s", event.NginxError), // no pod has left
		{At: 100 * ms, Subject: "it", Change: &event.Change{ID: 1, Service: "demo/s", Host: "s.example", Added: []string{"demo/b"}, Removed: []string{"demo/a"}, Pods: 1}},
		failed(110*ms, "http", "demo/s", event.NginxError), // the pod drains
		gone(120*ms, "demo/a"),
		failed(130*ms, "http", "demo/s", event.NginxError), // counts
		failed(140*ms, "post", "demo/s", event.NginxError), // counts
		failed(150*ms, "http", "demo/t", event.NginxError), // another service
		failed(160*ms, "http", "demo/s", event.Reset),      // another cause
		answer(200*ms, 1, "demo/b"),
		failed(210*ms, "http", "demo/s", event.NginxError), // every worker serves the change
		{At: 300 * ms, Subject: "it", Change: &event.Change{ID: 2, Service: "demo/s", Host: "s.example", Added: []string{"demo/c"}, Removed: []string{"demo/b"}, Pods: 1}},
		gone(301*ms, "demo/b"),
		failed(310*ms, "http", "demo/s", event.NginxError), // counts: the change is never served
		{At: 400 * ms, Subject: "it", Phase: &event.Phase{Name: event.RoundEnd, Round: 1}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	s := result.Subjects[0]
	if s.Requests.Departed != 3 || s.lane("http").Departed != 2 || s.lane("post").Departed != 1 {
		t.Errorf("departed: %d, http %d, post %d; want 3, 2, 1", s.Requests.Departed, s.lane("http").Departed, s.lane("post").Departed)
	}
}

// The result reports which change was refused, and why.
func TestRefusedChangesHaveAReason(t *testing.T) {
	result, _, err := From(measuretest.Seq([]event.Event{
		{Run: &event.Run{Schema: event.Schema, Subjects: []string{"it"}}},
		{At: 0, Subject: "it", Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
		{At: 1, Subject: "it", Change: &event.Change{ID: 4, Step: "apply", Object: "Ingress demo/web"}},
		{At: 2, Subject: "it", Written: &event.Written{Change: 4, Error: `namespaces "demo" not found`}},
		{At: 3, Subject: "it", Phase: &event.Phase{Name: event.RoundEnd, Round: 1}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `the API refused 1 change, first that of Ingress demo/web (change 4, apply): namespaces "demo" not found`
	if got := strings.Join(result.Subjects[0].Invalid, "\n"); !strings.Contains(got, want) {
		t.Errorf("invalid because\n%s\nwant\n%s", got, want)
	}
}

// A killed run leaves a log without an end, in a round or between two rounds.
func TestLogWithoutAnEndIsVoid(t *testing.T) {
	begun := []event.Event{
		{Run: &event.Run{Schema: event.Schema, Subjects: []string{"it"}}},
		{At: 0, Subject: "it", Phase: &event.Phase{Name: event.Ready}},
		{At: 0, Subject: "it", Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
		{At: 3, Subject: "it", Request: &event.Request{Lane: "http"}},
	}
	ended := append(slices.Clone(begun), event.Event{At: 4, Subject: "it", Phase: &event.Phase{Name: event.RoundEnd, Round: 1}})
	stopped := append(slices.Clone(ended), event.Event{At: 5, Subject: "it", Phase: &event.Phase{Name: event.Stopped}})
	for _, c := range []struct {
		want string
		log  []event.Event
	}{
		{"the log ends in the middle of a round: the run was killed", begun},
		{"the log ends before the subject stopped: the run was killed", ended},
		{"", stopped},
	} {
		result, _, err := From(measuretest.Seq(c.log))
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(result.Subjects[0].Invalid, "\n")
		if !strings.Contains(got, c.want) || strings.Contains(got, "killed") != (c.want != "") {
			t.Errorf("invalid because %q, want %q", got, c.want)
		}
	}
}
