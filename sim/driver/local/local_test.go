package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/internal/isolated"
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

// script writes a controller whose help has none of our flags; without --help it runs a command.
func script(t *testing.T, does string) string {
	t.Helper()
	return program(t, "[ \"$1\" = --help ] && { echo '      --http-port int   port'; exit; }\n"+does)
}

// fork returns a controller that is the bundled one without the flags that ingress-nginx lacks: it
// writes to fixed paths, and cannot be told to use other ones.
func fork(t *testing.T) string {
	t.Helper()
	if err := isolated.Allowed(); err != nil {
		t.Skip(err)
	}
	ours := build(t)
	return program(t, "if [ \"$1\" = --help ]; then "+ours+" --help 2>&1 | grep -v -e --nginx-root -e --log-format -e --nginx-template -e --lua-dir; exit; fi\nexec "+ours+" \"$@\"")
}

// fixed are the paths of an unmodified fork.
var fixed = []string{"/etc/nginx", "/etc/ingress-controller", "/tmp/nginx", "/var/log/nginx"}

// machine describes the files at the fixed paths on this machine.
func machine(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, root := range fixed {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				fmt.Fprintln(&all, path, err)
				return nil
			}
			info, err := entry.Info()
			if err == nil && !entry.IsDir() {
				fmt.Fprintln(&all, path, info.Size(), info.ModTime())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

// An unmodified fork runs isolated: it has its fixed paths and processes to itself, and all that is
// measured of a subject can be seen.
func TestFork(t *testing.T) {
	d := Driver{Bundled: fork(t)}
	before := machine(t)
	drivertest.Run(t, d)
	if after := machine(t); after != before {
		t.Errorf("the files of this machine were\n%s\nand are\n%s", before, after)
	}
}

// Where namespaces are not allowed, the reason names what to do. Where the machine's own paths may be
// used, they are.
func TestForkThatCannotBeIsolated(t *testing.T) {
	s := subject.Subject{Name: "fork", Controller: fork(t)}
	allowed := allowsIsolation
	defer func() { allowsIsolation = allowed }()
	allowsIsolation = func() error { return errors.New("no namespaces here") }
	_, err := Driver{}.Prepare(t.Context(), s, driver.Options{Dir: t.TempDir()})
	for _, want := range []string{s.Controller, "/etc/ingress-controller", "no namespaces here", "--driver container", "--allow-host-paths"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if why := (Driver{HostPaths: true}).UnsupportedSubject(s); why != "" {
		t.Errorf("refused although it is allowed: %s", why)
	}
	if why := (Driver{}).UnsupportedSubject(subject.Subject{Name: "ours", Controller: build(t)}); why != "" {
		t.Errorf("refused although it needs no isolation: %s", why)
	}
}

// inCluster writes an adapter for controllers with in-cluster configuration.
func inCluster(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in-cluster.yaml")
	err := os.WriteFile(path, []byte(`
apiVersion: windtunnel.dev/v1
kind: Adapter
metadata: {name: in-cluster}
spec:
  summary: A controller.
  inCluster: true
  command: ["{{.Controller}}", "{{.APIServer.Host}}", "{{.APIServer.Port}}", "{{.APIServer.CA}}", "{{.APIServer.Token}}"]
  env: {OWN: "{{.Root}}"}
  ingressClass: {controller: example.com/in-cluster}
  health: [{address: "127.0.0.1:{{.Ports.HTTP}}", proves: nothing}]
  processes: {workers: single}
  isolation: {folders: [/run/windtunnel-test]}
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A controller with in-cluster configuration has its account's files, at both paths of the folder, beside
// other folders of its own. It finds nothing of the clusters that the user of this machine has.
func TestInClusterConfiguration(t *testing.T) {
	if err := isolated.Allowed(); err != nil {
		t.Skip(err)
	}
	for name, value := range map[string]string{"KUBECONFIG": "/users-own", "KUBERNETES_SERVICE_PORT": "1", "KUBERNETES_MASTER": "users-own", "HOME": "/users-own"} {
		t.Setenv(name, value)
	}
	dir := t.TempDir()
	log := event.NewLog(&strings.Builder{}, time.Now())
	s := subject.Subject{Name: "subject", Adapter: inCluster(t), Controller: program(t, strings.Join([]string{
		"env | grep -e KUBE -e users-own | sort", "cd /var/run/secrets/kubernetes.io/serviceaccount && ls && cat namespace && echo",
		`cmp ca.crt "$3" && cmp /run/secrets/kubernetes.io/serviceaccount/token "$4" && echo the same files`,
		`[ "$HOME" = "$OWN" ] && touch /run/windtunnel-test/file && echo its own`,
		`[ "$1:$2" = "$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT" ] && echo the same address`,
	}, "\n"))}
	instance, err := Driver{}.Prepare(t.Context(), s, driver.Options{Dir: dir, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer instance.Stop(t.Context())
	if err := instance.Launch(t.Context()); err == nil {
		t.Error("the controller has ended, but counts as healthy")
	}
	output, err := os.ReadFile(filepath.Join(dir, "controller.log"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^KUBERNETES_SERVICE_HOST=127\.0\.0\.1
KUBERNETES_SERVICE_PORT=\d{3,}
KUBERNETES_SERVICE_PORT_HTTPS=\d{3,}
ca\.crt
namespace
token
ingress
the same files
its own
the same address
$`)
	if !want.Match(output) {
		t.Errorf("the controller found\n%s", output)
	}
}

// Where namespaces are not allowed, one line says so, and does not suggest the machine's own folder.
func TestInClusterConfigurationNeedsIsolation(t *testing.T) {
	s := subject.Subject{Name: "subject", Adapter: inCluster(t), Controller: "/bin/true"}
	allowed := allowsIsolation
	defer func() { allowsIsolation = allowed }()
	allowsIsolation = func() error { return errors.New("no namespaces here") }
	for _, d := range []Driver{{}, {HostPaths: true}} {
		why := d.UnsupportedSubject(s)
		for _, want := range []string{"/bin/true", "/var/run/secrets/kubernetes.io/serviceaccount of its own", "no namespaces here", "--driver container"} {
			if !strings.Contains(why, want) {
				t.Errorf("%+v: %q, want %s", d, why, want)
			}
		}
		if strings.ContainsAny(why, "\n") || strings.Contains(why, "--allow-host-paths") || strings.Contains(why, "windtunnel-test") == d.HostPaths {
			t.Errorf("%+v: %q", d, why)
		}
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
