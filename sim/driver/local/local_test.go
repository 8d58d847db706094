package local

import (
	"context"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
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
	if !waitGone(master, time.Second) {
		t.Errorf("nginx %d has outlived the stop", master)
	}
	log.Close()
	if !strings.Contains(out.String(), "was killed") {
		t.Errorf("the log does not tell of it: %s", out)
	}
}

func TestPortsAreFreeAndBelowTheEphemeralOnes(t *testing.T) {
	ports, err := choosePorts(0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, flag := range portFlags {
		port := ports[flag]
		if seen[port] || len(port) != 5 || port >= "32768" {
			t.Errorf("--%s=%s", flag, port)
		}
		seen[port] = true
	}
}

func TestAPortInUseIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).AddrPort().Port()
	_, err = choosePorts(int(port))
	if err == nil || !strings.Contains(err.Error(), "--http-port, is in use") || !strings.Contains(err.Error(), "--port-base") {
		t.Errorf("error %v does not say what to mend", err)
	}
}

func TestBlocksAreNotSharedAndComeBack(t *testing.T) {
	one, err := claimBlock()
	if err != nil {
		t.Fatal(err)
	}
	other, err := claimBlock()
	if err != nil {
		t.Fatal(err)
	}
	defer other.release()
	if one.prefix.Overlaps(other.prefix) || !netip.MustParsePrefix("127.0.0.0/8").Overlaps(one.prefix) {
		t.Errorf("blocks %v and %v", one.prefix, other.prefix)
	}
	one.release()
	again, err := claimBlock()
	if err != nil {
		t.Fatal(err)
	}
	defer again.release()
	if again.prefix.Overlaps(other.prefix) {
		t.Errorf("%v is held by another", again.prefix)
	}
}
