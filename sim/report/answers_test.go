package report

import (
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

func valid(name string, of func(*measure.Subject)) measure.Subject {
	s := measure.Subject{
		Name: name, Valid: true, Measured: 20 * time.Second,
		Requests: measure.Requests{Sent: 6000, Bound: 0.0005},
	}
	if of != nil {
		of(&s)
	}
	return s
}

func losing(failed int, causes map[string]int) func(*measure.Subject) {
	return func(s *measure.Subject) { s.Requests.Failed, s.Requests.Causes = failed, causes }
}

func voidBecause(reasons ...string) func(*measure.Subject) {
	return func(s *measure.Subject) { s.Valid, s.Invalid = false, reasons }
}

func resultWith(subjects ...measure.Subject) measure.Result {
	return measure.Result{Subjects: subjects}
}

func check(subject string, met bool) judge.Check {
	return judge.Check{Subject: subject, Evaluation: expect.Evaluation{Text: "reloads == 0", OK: met}}
}

func TestRan(t *testing.T) {
	for want, result := range map[string]measure.Result{
		"Nothing was measured.": resultWith(measure.Subject{Name: "a"}),
		"The subject a ran for 20.0 s, with about 300 requests/s and no cluster changes.": resultWith(valid("a", nil)),
		"The subject a ran for 20.0 s, with no traffic and 1 cluster change.": resultWith(valid("a", func(s *measure.Subject) {
			s.Requests, s.Changes.Made = measure.Requests{}, 1
		})),
		"The subject a ran for 20.0 s, with about 0.15 requests/s and no cluster changes.": resultWith(valid("a", func(s *measure.Subject) { s.Requests.Sent = 3 })),
		"The subjects a, b and c took turns, 20.0 s to 21.0 s each, with about 286 to 300 requests/s, 99 to 1,000 cluster changes and the faults disk-full and worker-kill.": resultWith(
			valid("a", func(s *measure.Subject) {
				s.Changes.Made, s.Struck = 99, []measure.Struck{{Name: "disk-full"}, {Name: "worker-kill"}}
			}),
			valid("b", func(s *measure.Subject) {
				s.Changes.Made, s.Measured, s.Struck = 1000, 21*time.Second, []measure.Struck{{Name: "disk-full"}}
			}),
			valid("c", func(s *measure.Subject) { s.Changes.Made = 500 })),
	} {
		if got := ranOf(result); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestResultSentence(t *testing.T) {
	inapplicable := judge.Check{Subject: "a", Evaluation: expect.Evaluation{NotApplicable: "it has no nginx"}}
	for _, test := range []struct {
		want   string
		result measure.Result
		checks []judge.Check
	}{
		{"No expectations are set.", measure.Result{}, nil},
		{"No expectations are set: a never reloaded and lost none of 6,000 requests.", resultWith(valid("a", nil)), nil},
		{"The expectation is met: a reloaded once and got no traffic.", resultWith(valid("a", func(s *measure.Subject) {
			s.Reloads, s.Requests = 1, measure.Requests{}
		})), []judge.Check{check("a", true)}},
		{"1 of 2 expectations is not met: a reloaded twice and lost 1 of 1 request (1 reset).", resultWith(valid("a", func(s *measure.Subject) {
			s.Reloads, s.Requests = 2, measure.Requests{Sent: 1, Failed: 1, Causes: map[string]int{"reset": 1}}
		})), []judge.Check{check("a", true), check("a", false)}},
		{"All 2 expectations are met (1 more does not apply): a reloaded 1,500 times, took 2.00 s (median) to serve a change on every worker, and lost 12 of 6,000 requests (9 reset, 3 refused).",
			resultWith(valid("a", func(s *measure.Subject) {
				s.Reloads, s.Converge.Last = 1500, measure.Durations{N: 1, P50: 2 * time.Second}
				losing(12, map[string]int{"refused": 3, "reset": 9})(s)
			})), []judge.Check{check("a", true), check("a", true), inapplicable}},
		{"No expectation applies (it has no nginx): a lost none of 6,000 requests.", resultWith(valid("a", func(s *measure.Subject) {
			s.NotApplicable = []measure.NotApplicable{{Measurements: []string{"reloads", "converge"}, Why: "it has no nginx"}}
			s.Converge.Last = measure.Durations{N: 1, P50: time.Second}
		})), []judge.Check{inapplicable}},
		{"All 2 expectations are met (1 more is not judged): a never reloaded and lost none of 6,000 requests.", resultWith(valid("a", nil)),
			[]judge.Check{check("a", true), check("a", true), {Subject: "b", Void: true}}},
		{"1 of 2 expectations is not met (1 more does not apply, 2 more are not judged): a never reloaded and lost none of 6,000 requests.", resultWith(valid("a", nil)),
			[]judge.Check{check("a", true), check("a", false), inapplicable, {Subject: "b", Void: true}, {Subject: "b", Void: true}}},
		{"No expectation is judged: a never reloaded and lost none of 6,000 requests.", resultWith(valid("a", voidBecause("it rained"))), []judge.Check{{Subject: "a", Void: true}}},
		{"All 2 expectations are met: d never reloaded and lost 7 of 6,000 requests (7 strange); a never reloaded and lost none of 6,000 requests; b never reloaded and lost none of 6,000 requests; the other 2 subjects lost no request.",
			resultWith(valid("a", nil), valid("b", nil), valid("c", nil), valid("d", losing(7, map[string]int{"strange": 7})), valid("e", nil)), []judge.Check{check("a", true), check("b", true)}},
	} {
		if got := resultOf(test.result, test.checks); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestValidSentence(t *testing.T) {
	unjudged := []judge.Check{{Subject: "a", Void: true}}
	for _, test := range []struct {
		want   string
		sound  soundness
		result measure.Result
		checks []judge.Check
	}{
		{"No: the run has no subject.", unsound, measure.Result{}, nil},
		{"Yes: the load generator, the probes and the machine kept up, so the figures can be relied on.", sound, resultWith(valid("a", nil)), nil},
		{"No: the run of a is void, because it rained. Do not rely on its figures. 1 expectation is not judged.", unsound, resultWith(valid("a", voidBecause("it rained"))), unjudged},
		{"No: the run of a is void, because its result gives no reason. Do not rely on its figures.", unsound, resultWith(valid("a", voidBecause())), nil},
		{"No: the runs of a and b are void, because it rained. Do not rely on their figures.", unsound,
			resultWith(valid("a", voidBecause("it rained")), valid("b", voidBecause("it rained"))), nil},
		{"No: the runs of a and b are void, that of a because it rained and that of b because it snowed (and for 1 other reason). Do not rely on their figures. 2 expectations are not judged.", unsound,
			resultWith(valid("a", voidBecause("it rained")), valid("b", voidBecause("it snowed", "it rained"))), append(unjudged, unjudged...)},
		{"Partly: the run of b is void, because it rained (and for 2 other reasons). The figures of a and c can be relied on.", partial,
			resultWith(valid("a", nil), valid("b", voidBecause("it rained", "", "")), valid("c", nil)), nil},
	} {
		got, is := validOf(test.result, test.checks)
		if got != test.want || is != test.sound {
			t.Errorf("got  %s: %s\nwant %s: %s", is, got, test.sound, test.want)
		}
	}
}

const second = time.Second

// lossy is a timeline with a moment, ten seconds into its first round.
func lossy(name string, m measure.Moment) measure.Timeline {
	m.From, m.Until = 15*second, 15*second+500*time.Millisecond
	return measure.Timeline{Name: name, Rounds: []measure.Round{{Begin: 5 * second, End: 25 * second}}, Moments: []measure.Moment{m}}
}

func TestMomentSentence(t *testing.T) {
	at := func(d time.Duration) time.Duration { return 15*second + d }
	one := measure.Moment{Failed: 1, Causes: map[string]int{"idle-close": 1}}
	with := func(of func(*measure.Moment)) measure.Moment {
		m := one
		of(&m)
		return m
	}
	const begin = "1 request failed at 10.0 s on a: 1 closed while idle"
	for want, m := range map[string]measure.Moment{
		begin: one,
		"1,200 requests failed at 10.0 s on a: 700 reset, 500 refused": {Failed: 1200, Causes: map[string]int{"refused": 500, "reset": 700}},
		begin + ", 300 ms after a reload": with(func(m *measure.Moment) {
			m.Reloads = []measure.Reload{{At: at(-second)}, {At: at(-second * 3 / 10)}, {At: at(second / 10)}}
			m.Changes = []measure.Served{{At: at(-2 * second)}}
		}),
		begin + ", 100 ms before a reload":       with(func(m *measure.Moment) { m.Reloads = []measure.Reload{{At: at(second / 10)}, {At: at(second / 5)}} }),
		begin + ", at the same time as a reload": with(func(m *measure.Moment) { m.Reloads = []measure.Reload{{At: at(0)}} }),
		begin + ", 2.00 s after a change":        with(func(m *measure.Moment) { m.Changes = []measure.Served{{At: at(-2 * second)}} }),
		begin + ", during the fault disk-full": with(func(m *measure.Moment) {
			m.Faults = []measure.Broken{{Name: "disk-full", From: at(-second), Until: at(second)}}
		}),
		begin + ", 1.00 s after the fault disk-full": with(func(m *measure.Moment) {
			m.Faults = []measure.Broken{{Name: "disk-full", From: at(-second), Until: at(-1)}}
		}),
	} {
		timeline := lossy("a", m)
		if got := momentSentence(timeline.Moments[0], timeline); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The first screen lists the moments with the most failed requests, in order, and what else went wrong.
func TestWorthALook(t *testing.T) {
	timeline := lossy("a", measure.Moment{})
	moment := timeline.Moments[0]
	timeline.Moments, timeline.OtherMoments = nil, 2
	for _, failed := range []int{3, 1, 4, 1, 5, 9, 2} {
		moment.Failed, moment.From = failed, moment.From+second
		timeline.Moments = append(timeline.Moments, moment)
	}
	subject := valid("a", func(s *measure.Subject) {
		s.Changes.Unconverged, s.Changes.Failed, s.Workers.Crashed, s.Trouble = 1, 2, 3, []string{"it rained", "it snowed"}
	})
	got := answersOf(resultWith(subject), measure.Series{Subjects: []measure.Timeline{timeline}}, nil)
	want := []notice{
		{"3 requests failed at 11.0 s on a: .", "moment-1-1"}, {"4 requests failed at 13.0 s on a: .", "moment-1-3"}, {"5 requests failed at 15.0 s on a: .", "moment-1-5"},
		{"9 requests failed at 16.0 s on a: .", "moment-1-6"}, {"2 requests failed at 17.0 s on a: .", "moment-1-7"},
		{"Requests also failed at 4 other moments, fewer each time.", "time"},
		{"1 change did not reach every worker of a in time.", "worst"}, {"2 changes of a were refused by the API server.", "worst"},
		{"3 workers of a crashed or were killed.", "generations"}, {"The harness reported a problem with a: it rained (and 1 more).", "environment"},
	}
	if len(got.Worth) != len(want) || got.Quiet != "" {
		t.Fatalf("got %d notices and %q, want %d: %+v", len(got.Worth), got.Quiet, len(want), got.Worth)
	}
	for i := range want {
		if got.Worth[i] != want[i] {
			t.Errorf("got %+v, want %+v", got.Worth[i], want[i])
		}
	}
}

func TestNothingWorthALook(t *testing.T) {
	for want, result := range map[string]measure.Result{
		"Nothing: no request failed. Upper bound of the failure rate at 95 % confidence: 0.05 % (6,000 requests).":                                           resultWith(valid("a", nil)),
		"Nothing: no request failed. Upper bound of the failure rate at 95 % confidence: 0.05 % with a (6,000 requests) and 0.05 % with b (6,000 requests).": resultWith(valid("a", nil), valid("b", nil)),
		"Nothing, but no requests were sent.": resultWith(measure.Subject{Name: "a"}),
	} {
		got := answersOf(result, measure.Series{}, nil)
		if len(got.Worth) != 0 || got.Quiet != want {
			t.Errorf("got  %s %v\nwant %s", got.Quiet, got.Worth, want)
		}
	}
}

// Every cause has words, so that no sentence shows a code.
func TestCausesHaveWords(t *testing.T) {
	for _, cause := range []event.Cause{
		event.IdleClose, event.Reset, event.Refused, event.EOF, event.Truncated, event.StreamCut, event.Corrupted, event.Timeout, event.NginxError, event.PodError,
		event.NotFound, event.NginxOther, event.PodOther, event.AnyError, event.AnyOther, event.WrongPod, event.GonePod, event.Handshake, event.WrongCert, event.OurDialing, event.OurCancel, event.Unknown,
	} {
		if words := causeWords[cause]; words == "" || strings.Contains(words, string(cause)) && strings.Contains(string(cause), "-") {
			t.Errorf("%s: %q", cause, words)
		}
	}
}

// The last line of a void run names the void subjects, and says how the others did.
func TestUnjudged(t *testing.T) {
	void := func(name string) judge.Check { return judge.Check{Subject: name, Void: true} }
	for _, test := range []struct {
		want   string
		result measure.Result
		checks []judge.Check
	}{
		{"the run of a is void", resultWith(valid("a", voidBecause("it rained"))), nil},
		{"2 expectations not judged, because the runs of a and b are void",
			resultWith(valid("a", voidBecause("it rained")), valid("b", voidBecause("it rained"))), []judge.Check{void("a"), void("b")}},
		{"1 expectation not judged, because the run of a is void; others: 2 met, 0 not met",
			resultWith(valid("a", voidBecause("it rained")), valid("b", nil)), []judge.Check{void("a"), check("b", true), check("b", true)}},
	} {
		if got := unjudged(test.result, test.checks); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}
