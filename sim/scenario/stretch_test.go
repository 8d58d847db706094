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
		Settle:  20 * time.Second,
		Control: &scenario.Control{Timeline: []scenario.Step{{At: time.Hour, Fault: "api-restart"}}},
	}}
	minute := hour.Stretched(time.Minute)
	if minute.Length() != time.Minute || minute.Timeline[1].At != 30*time.Second || minute.Timeline[1].For != 2*time.Minute || minute.Control.Timeline[0].At != time.Minute {
		t.Errorf("%+v, control %+v", minute.Timeline, minute.Control.Timeline)
	}
	if minute.Timeline[0].Rate != 1 || minute.Settle != 20*time.Second {
		t.Error("a rate or the settle time was stretched as well")
	}
	if hour.Length() != time.Hour || hour.Control.Timeline[0].At != time.Hour {
		t.Error("Stretched modified the scenario")
	}
}
