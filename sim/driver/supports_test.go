package driver_test

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/container"
	"windtunnel.dev/sim/driver/kind"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/scenario"
)

func TestSupports(t *testing.T) {
	with := func(name string) *scenario.Scenario {
		return &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{Timeline: []scenario.Step{{Line: 7, Fault: name}}}}
	}
	for _, f := range fault.All() {
		if f.Allowed() != nil {
			continue
		}
		if err := driver.Supports(local.Driver{}, with(f.Name)); err != nil {
			t.Errorf("local cannot run %s: %v", f.Name, err)
		}
	}
	if err := driver.Supports(kind.Driver{}, with("worker-kill")); err != nil {
		t.Errorf("kind cannot kill workers: %v", err)
	}
	for _, f := range fault.All() {
		if err := driver.Supports(kind.Driver{}, with(f.Name)); f.Needs == fault.APIServer && !errors.Is(err, fault.ErrNotHere) {
			t.Errorf("kind says that it can make %s: %v", f.Name, err)
		}
	}
	err := driver.Supports(kind.Driver{}, with("api-429"))
	if !errors.Is(err, fault.ErrNotHere) || !strings.Contains(err.Error(), "a.yaml:7: fault api-429, driver kind: ") || !strings.HasSuffix(err.Error(), "the API server is a real one") {
		t.Errorf("kind with a fault of the API server: %v", err)
	}
}

// What only root can break is not for others to run, wherever.
func TestSupportsNeedsRoot(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread, which stays another user's, ends with the test
	if _, _, failed := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)); failed != 0 && os.Geteuid() == 0 {
		t.Skip(failed)
	}
	for _, f := range fault.All() {
		if f.Root != strings.Contains(f.Doc, "needs root") {
			t.Errorf("%s: Root is %t, but: %s", f.Name, f.Root, f.Doc)
		}
		for _, d := range []driver.Driver{local.Driver{}, container.Driver{}, kind.Driver{}} {
			err := driver.Supports(d, &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{Timeline: []scenario.Step{{Line: 7, Fault: f.Name}}}})
			if f.Root && (!errors.Is(err, fault.ErrNotHere) || !strings.HasSuffix(err.Error(), "it needs root")) {
				t.Errorf("%s, driver %s: %v", f.Name, d.Name(), err)
			}
		}
	}
}

// A driver that cannot run a subject reports why, and which driver can.
func TestSupportsSubject(t *testing.T) {
	limited := scenario.Resources{CPU: scenario.Quantity{Quantity: resource.MustParse("500m")}}
	for _, test := range []struct {
		driver  driver.Driver
		subject scenario.Subject
		why     string // part of the error; "" if the driver can run the subject
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
		err := driver.Supports(test.driver, &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{Subjects: []scenario.Subject{test.subject}}})
		if (err == nil) != (test.why == "") || err != nil && (!errors.Is(err, fault.ErrNotHere) || !strings.Contains(err.Error(), test.why)) {
			t.Errorf("%s and %+v: %v", test.driver.Name(), test.subject, err)
		}
	}
}
