package adapter

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
)

// Measurements that the adapter names come first. Those that follow from its processes and its log lines
// need not be named.
func TestInapplicable(t *testing.T) {
	record, tellsTook := Line{Record: "sync"}, Line{Match: MustPattern("reloaded in (?P<took>.*)"), Tells: TellsReload}
	reloaded := Line{Match: MustPattern("reloaded"), Tells: TellsReload}
	named := []NotApplicable{{Measurements: []string{"posts", "reloads"}, Why: "so it is"}}
	for name, test := range map[string]struct {
		spec Spec
		want map[string]string // a part of the measurements, by reason
	}{
		"nginx with its records": {Spec{Processes: Processes{Workers: Titled}, Log: []Line{record, reloaded}, Metrics: "http://127.0.0.1:9005/metrics"}, map[string]string{}},
		"haproxy": {Spec{Processes: Processes{Workers: Forked}, Log: []Line{tellsTook}}, map[string]string{
			"its log does not report POSTs": "posts", "its log does not report failed syncs": "syncs.failed",
			"its log does not report the phases of a reload": "syncs.phases",
		}},
		"one process": {Spec{Processes: Processes{Workers: Single}}, map[string]string{
			"one process answers all requests, and no reload replaces it":           "reloads",
			"the controller answers the requests itself, so it counts as the proxy": "cpu.controller",
			"its adapter has no pattern for log lines about syncs":                  "syncs",
			"its log does not report POSTs":                                         "posts",
			"its log does not report the duration of syncs":                         "converge.way.wait",
		}},
		"a proxy of one process": {Spec{Processes: Processes{Workers: Single, Master: MustPattern("^envoy")}, Log: []Line{record}}, map[string]string{
			"one process answers all requests, and no reload replaces it": "reloads",
		}},
		"named": {Spec{Processes: Processes{Workers: Single, Master: MustPattern("^envoy")}, Log: []Line{tellsTook}, NotApplicable: named}, map[string]string{
			"so it is": "posts", "one process answers all requests, and no reload replaces it": "workers.generations", "its log does not report failed syncs": "syncs.failed",
			"its log does not report the phases of a reload": "syncs.phases",
		}},
	} {
		got := map[string]string{}
		for _, n := range (&Setup{Spec: test.spec}).Inapplicable() {
			got[n.Why] = n.Measurements[0]
		}
		if test.spec.Metrics == "" {
			test.want["its adapter has no metrics endpoint"] = "heap"
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// An entry whose reason expands to nothing does not count.
func TestNotApplicableIsATemplate(t *testing.T) {
	a := mustParse(t, good)
	a.NotApplicable = []NotApplicable{{Measurements: []string{"posts"}, Why: `{{if .Lacks "log"}}of its log{{end}}`}}
	if s := expand(t, a, Data{}); len(s.NotApplicable) != 0 {
		t.Errorf("%+v", s.NotApplicable)
	}
	s := expand(t, a, Data{Help: Help{Whole: true}})
	if want := (event.NotApplicable{Measurements: []string{"posts"}, Why: "of its log"}); !cmp.Equal(s.Inapplicable()[0], want) {
		t.Errorf("%+v, want %+v", s.Inapplicable(), want)
	}
}
