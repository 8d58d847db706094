package local

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/drivertest"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/subject"
)

func build(t *testing.T) string {
	t.Helper()
	if err := doctor.Fit(); err != nil {
		t.Skip("no subject can run here: ", err)
	}
	controller := filepath.Join(t.TempDir(), "nginx-ingress-controller")
	if out, err := exec.Command("go", "build", "-o", controller, "windtunnel.dev/cmd/nginx-ingress-controller").CombinedOutput(); err != nil {
		t.Fatalf("building the controller: %v\n%s", err, out)
	}
	return controller
}

func TestDriver(t *testing.T) { drivertest.Run(t, Driver{Bundled: build(t)}) }

// A controller that does not end when asked is killed, and its nginx with it.
func TestStopEndsWhatWillNot(t *testing.T) {
	controller := build(t)
	out := &strings.Builder{}
	log := event.NewLog(out, time.Now())
	instance, err := Driver{Bundled: controller}.Prepare(t.Context(), subject.Subject{
		Name: "stubborn", Controller: subject.Bundled,
		Flags: map[string]string{"shutdown-grace-period": "3600"},
	}, driver.Room{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	master, err := instance.Master()
	if err != nil {
		t.Fatal(err)
	}
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	if err := instance.Stop(cut); err == nil {
		// The API server may have ended in good order all the same.
		t.Log("stopped in good order")
	}
	if err := syscall.Kill(master, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("nginx %d has outlived the stop", master)
	}
	log.Close()
	if !strings.Contains(out.String(), "was killed") {
		t.Errorf("the log does not tell of it: %s", out)
	}
}
