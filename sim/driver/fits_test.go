package driver_test

import (
	"errors"
	"strings"
	"testing"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/kind"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/scenario"
)

func TestFits(t *testing.T) {
	with := func(name string) *scenario.Scenario {
		return &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{Timeline: []scenario.Step{{Line: 7, Fault: name}}}}
	}
	for _, f := range fault.All() {
		if err := driver.Fits(local.Driver{}, with(f.Name)); err != nil {
			t.Errorf("local cannot run %s: %v", f.Name, err)
		}
	}
	if err := driver.Fits(kind.Driver{}, with("worker-kill")); err != nil {
		t.Errorf("kind cannot kill workers: %v", err)
	}
	err := driver.Fits(kind.Driver{}, with("api-429"))
	if !errors.Is(err, fault.ErrNotHere) || !strings.Contains(err.Error(), "a.yaml:7: fault api-429, driver kind: ") || !strings.HasSuffix(err.Error(), "the API server is a real one") {
		t.Errorf("kind and a fault of the API: %v", err)
	}
}
