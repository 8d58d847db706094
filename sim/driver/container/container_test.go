package container

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/drivertest"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// fit skips a test if containers cannot run on this machine.
func fit(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a container engine; not run with -short")
	}
	if err := (Driver{}).Available(t.Context()); err != nil {
		t.Skip("no container can run on this machine: ", err)
	}
}

func TestDriver(t *testing.T) {
	fit(t)
	drivertest.Run(t, Driver{})
}

// launched returns a subject that runs in its container, and its folder.
func launched(t *testing.T, s subject.Subject) (driver.Instance, string) {
	t.Helper()
	fit(t)
	dir := t.TempDir()
	instance, err := Driver{}.Prepare(t.Context(), s, driver.Options{Dir: dir, Log: event.NewLog(&bytes.Buffer{}, time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := instance.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := instance.Launch(t.Context()); err != nil {
		t.Fatal(err)
	}
	return instance, dir
}

// After its controller is killed, a subject gets a new container, and the old one is removed. At
// the end, nginx.conf and the log are kept.
func TestKilledControllerGetsANewContainer(t *testing.T) {
	instance, dir := launched(t, subject.Subject{Name: "mortal", Controller: subject.Bundled})
	first, err := instance.Master()
	if err != nil {
		t.Fatal(err)
	}
	controller, err := os.FindProcess(instance.Controller())
	if err != nil {
		t.Fatal(err)
	}
	if err := controller.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-instance.Died():
	case <-time.After(time.Minute):
		t.Fatal("the container still runs after its controller has ended")
	}
	if err := instance.Err(); err == nil || !strings.Contains(err.Error(), "exit status 137") {
		t.Errorf("Err returns %v", err)
	}
	if err := instance.Revive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if second, err := instance.Master(); err != nil || second == first {
		t.Errorf("nginx's master is process %d, %v; it was %d before", second, err, first)
	}
	if n := containersOf(t, os.Getpid()); n != 1 {
		t.Errorf("%d containers, want one", n)
	}
	if err := instance.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if n := containersOf(t, os.Getpid()); n != 0 {
		t.Errorf("%d containers remain after the stop", n)
	}
	for _, name := range []string{"nginx.conf", "controller.log"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(content) == 0 {
			t.Errorf("%s of the run: %d bytes, %v", name, len(content), err)
		}
	}
}

// A container has the limits of its subject.
func TestResources(t *testing.T) {
	instance, _ := launched(t, subject.Subject{Name: "small", Controller: subject.Bundled, Resources: scenario.Resources{
		CPU: quantity("500m"), Memory: quantity("256Mi"),
	}})
	provider, err := engine.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids(t, provider.Client(), os.Getpid()) {
		found, err := provider.Client().ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if host := found.Container.HostConfig; host.NanoCPUs != 5e8 || host.Memory != 256<<20 {
			t.Errorf("limits are %d nano CPUs, %d bytes", host.NanoCPUs, host.Memory)
		}
	}
	if _, err := instance.Master(); err != nil {
		t.Error(err)
	}
}

// orphaned is the variable that makes this test binary a harness, which starts a subject and waits
// to be killed.
const orphaned = "WINDTUNNEL_TEST_ORPHAN"

// A killed harness leaves its container behind; the next harness removes it.
func TestContainersOfDeadHarnessesAreRemoved(t *testing.T) {
	if dir := os.Getenv(orphaned); dir != "" {
		instance, err := Driver{}.Prepare(t.Context(), subject.Subject{Name: "orphan", Controller: subject.Bundled}, driver.Options{Dir: dir, Log: event.NewLog(&bytes.Buffer{}, time.Now())})
		if err == nil {
			err = instance.Launch(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString("launched\n")
		select {}
	}
	fit(t)
	harness := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	harness.Env = append(os.Environ(), orphaned+"="+t.TempDir(), "TMPDIR="+t.TempDir())
	output, err := harness.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len("launched\n"))
	if _, err := output.Read(first); err != nil || string(first) != "launched\n" {
		t.Errorf("the harness printed %q, %v", first, err)
	}
	harness.Process.Kill()
	harness.Wait()
	if n := containersOf(t, harness.Process.Pid); n != 1 {
		t.Errorf("the killed harness left %d containers, want 1", n)
	}
	instance, err := Driver{}.Prepare(t.Context(), subject.Subject{Name: "next", Controller: subject.Bundled}, driver.Options{Dir: t.TempDir(), Log: event.NewLog(&bytes.Buffer{}, time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	defer instance.Stop(t.Context())
	if n := containersOf(t, harness.Process.Pid); n != 0 {
		t.Errorf("%d containers of a dead harness still exist", n)
	}
}

func TestOrphan(t *testing.T) {
	mine, err := harnessIdentity()
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(mine)
	for label, want := range map[string]bool{
		mine:                                     false,
		fields[0] + " 1 " + fields[2]:            true, // the PID was reused
		"4194305 1 " + fields[2]:                 true, // above the highest possible PID
		"4194305 1 pid:[1]":                      false,
		"":                                       false,
		fields[0] + " " + fields[1] + " pid:[1]": false,
	} {
		if got := isOrphan(label); got != want {
			t.Errorf("orphan(%q) = %v", label, got)
		}
	}
}

func TestABinaryIsForAnotherDriver(t *testing.T) {
	_, err := Driver{}.Prepare(t.Context(), subject.Subject{Name: "fork", Controller: "/bin/controller"}, driver.Options{})
	if err == nil || !strings.Contains(err.Error(), "image:NAME") {
		t.Errorf("got %v", err)
	}
}
