package driver_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/container"
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

// Who cannot run a subject says why, and what can.
func TestTakes(t *testing.T) {
	limited := scenario.Resources{CPU: scenario.Quantity{Quantity: resource.MustParse("500m")}}
	for _, test := range []struct {
		driver  driver.Driver
		subject scenario.Subject
		why     string // empty: it can
	}{
		{local.Driver{}, scenario.Subject{Controller: "bundled"}, ""},
		{local.Driver{}, scenario.Subject{Controller: "/bin/fork"}, ""},
		{local.Driver{}, scenario.Subject{Controller: "image:fork"}, "--driver container"},
		{local.Driver{}, scenario.Subject{Controller: "bundled", Resources: limited}, "no limits"},
		{container.Driver{}, scenario.Subject{Controller: "bundled", Resources: limited}, ""},
		{container.Driver{}, scenario.Subject{Controller: "image:fork"}, ""},
		{container.Driver{}, scenario.Subject{Controller: "/bin/fork"}, "image:NAME"},
		{kind.Driver{}, scenario.Subject{Controller: "bundled", Resources: limited}, ""},
	} {
		err := driver.Fits(test.driver, &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{Subjects: []scenario.Subject{test.subject}}})
		if (err == nil) != (test.why == "") || err != nil && (!errors.Is(err, fault.ErrNotHere) || !strings.Contains(err.Error(), test.why)) {
			t.Errorf("%s and %+v: %v", test.driver.Name(), test.subject, err)
		}
	}
}
