package scenario_test

import (
	"testing"
	"time"

	"windtunnel.dev/sim/scenario"
)

func TestStretched(t *testing.T) {
	hour := &scenario.Scenario{Spec: scenario.Spec{
		Timeline: []scenario.Step{
			{At: 0, Churn: "touch", Rate: 1, For: time.Hour},
			{At: 30 * time.Minute, Fault: "worker-kill", For: 2 * time.Hour}, // a fault's end does not count
		},
		Traffic: []scenario.Traffic{
			{Lane: "http", Rate: 10, Last: time.Minute, Ramp: &scenario.Ramp{To: 100, Over: 30 * time.Minute}, Sine: &scenario.Sine{By: 5, Every: 6 * time.Minute}},
			{Lane: "post", Rate: 10},
		},
		Settle:  20 * time.Second,
		Control: &scenario.Control{Timeline: []scenario.Step{{At: time.Hour, Fault: "api-restart"}}},
	}}
	minute := hour.Stretched(time.Minute)
	if minute.Length() != time.Minute || minute.Timeline[1].At != 30*time.Second || minute.Timeline[1].For != 2*time.Minute || minute.Control.Timeline[0].At != time.Minute {
		t.Errorf("%+v, control %+v", minute.Timeline, minute.Control.Timeline)
	}
	http := minute.Traffic[0]
	if *http.Ramp != (scenario.Ramp{To: 100, Over: 30 * time.Second}) || *http.Sine != (scenario.Sine{By: 5, Every: 6 * time.Second}) {
		t.Errorf("ramp %+v, sine %+v: want those of the timeline's shape", *http.Ramp, *http.Sine)
	}
	if http.Rate != 10 || http.Last != time.Minute || minute.Traffic[1] != hour.Traffic[1] {
		t.Errorf("traffic %+v: want the same rates and lengths of requests", minute.Traffic)
	}
	if minute.Timeline[0].Rate != 1 || minute.Settle != 20*time.Second {
		t.Error("a rate or the settle time was stretched as well")
	}
	if hour.Length() != time.Hour || hour.Control.Timeline[0].At != time.Hour || hour.Traffic[0].Ramp.Over != 30*time.Minute {
		t.Error("Stretched modified the scenario")
	}
}
