package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/drivertest"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/subject"
)

func build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("no subject can run on this machine: ", err)
	}
	controller := filepath.Join(t.TempDir(), "another-name") // than the one in its user agent
	if err := os.Rename(built.Command(t, "nginx-ingress-controller"), controller); err != nil {
		t.Fatal(err)
	}
	return controller
}

func TestDriver(t *testing.T) { drivertest.Run(t, Driver{Bundled: build(t)}) }

// Stop kills a controller that does not end when asked, and its nginx.
func TestStopKillsAStubbornController(t *testing.T) {
	controller := build(t)
	out := &strings.Builder{}
	log := event.NewLog(out, time.Now())
	instance, err := Driver{Bundled: controller}.Prepare(t.Context(), subject.Subject{
		Name: "stubborn", Controller: subject.Bundled,
		Flags: map[string]string{"shutdown-grace-period": "3600"},
	}, driver.Options{Dir: t.TempDir(), Log: log})
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
		// The API server may still have ended gracefully.
		t.Log("stopped gracefully")
	}
	if err := syscall.Kill(master, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("nginx %d still runs after the stop", master)
	}
	log.Close()
	if !strings.Contains(out.String(), "was killed") {
		t.Errorf("the log does not report the kill: %s", out)
	}
}

// script writes a controller that has a help without our flags; without --help it runs a command.
func script(t *testing.T, does string) string {
	t.Helper()
	return program(t, "[ \"$1\" = --help ] && { echo '      --http-port int   port'; exit; }\n"+does)
}

// A controller that would write to folders of this machine is not started unless that is allowed.
func TestControllerWithoutRootFlagIsRefused(t *testing.T) {
	touched := filepath.Join(t.TempDir(), "touched")
	foreign := subject.Subject{Name: "fork", Controller: script(t, "touch "+touched)}
	for name, d := range map[string]Driver{"named by the scenario": {}, "instead of the bundled one": {Bundled: foreign.Controller}} {
		t.Run(name, func(t *testing.T) {
			s := foreign
			if d.Bundled != "" {
				s.Controller = subject.Bundled
			}
			_, err := d.Prepare(t.Context(), s, driver.Options{Dir: t.TempDir()})
			for _, want := range []string{foreign.Controller, "/etc/ingress-controller", "--driver container", "--allow-host-paths"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %s", err, want)
				}
			}
			d.HostPaths = true
			if why := d.UnsupportedSubject(s); why != "" {
				t.Errorf("refused although it is allowed: %s", why)
			}
		})
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("the controller was started")
	}
}

// The end of a controller is detected even if a child that it left behind keeps its output open.
func TestLeftoverChildDoesNotDelayTheEnd(t *testing.T) {
	s := subject.Subject{Name: "fork", Controller: script(t, "sleep 1000 & echo $! >&2\nkill -9 $$")}
	dir := t.TempDir()
	log := event.NewLog(&strings.Builder{}, time.Now())
	instance, err := Driver{HostPaths: true}.Prepare(t.Context(), s, driver.Options{Dir: dir, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // reached only if the test fails
	defer cancel()
	if err := instance.Launch(ctx); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("error %v, want how it ended", err)
	}
	output, err := os.ReadFile(filepath.Join(dir, "controller.log"))
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(output)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(child, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("its child %d is alive: %v", child, err)
	}
	if err := instance.Stop(ctx); err != nil || ctx.Err() != nil {
		t.Errorf("stopping: %v, %v", err, ctx.Err())
	}
}
