package adapters_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/internal/forktest"
	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/checkup"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/container"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/subject"
)

// apiFaults are faults of the API server, which strike its clients by their user agent.
const apiFaults = `
  - {at: 0s, fault: api-delayed-events, for: 2s}
  - {at: 2500ms, fault: api-watch-closed}
  - {at: 3s, fault: api-5xx, for: 1s}`

// A controller with in-cluster configuration gets its events over HTTPS with the token of its service
// account, and the faults of the API server strike it. It sees the files of its account, and the machine
// does not change.
func TestInCluster(t *testing.T) {
	needIsolation(t)
	before := accountOfMachine()
	t.Cleanup(func() {
		if after := accountOfMachine(); after != before {
			t.Errorf("this machine had %q, and has %q", before, after)
		}
	})
	subject := subject.Subject{Name: "subject", Adapter: testAdapter(t, "in-cluster"), Controller: informer(t)}
	t.Run("scenario", func(t *testing.T) {
		s, dir := rollingUpdateWith(t, local.Driver{}, subject, apiFaults)
		checkSingle(t, s)
		checkFaults(t, s)
		checkAccount(t, dir)
	})
	t.Run("adapter check", func(t *testing.T) {
		t.Parallel()
		report, err := checkup.Do(t.Context(), checkup.Options{Driver: local.Driver{}, Subject: subject, Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Results {
			if !r.OK {
				t.Errorf("%s: %s", r.Point, r.Found)
			}
		}
	})
}

// accountOfMachine describes the contents of this machine's folder at the path of the account's files.
func accountOfMachine() string {
	var all []string
	for dir := adapter.AccountFolder; dir != "/var/run"; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		all = append(all, fmt.Sprint(dir, entries, err))
	}
	return strings.Join(all, "; ")
}

// The bundled controller runs without --kubeconfig, as in a pod.
func TestBundledInCluster(t *testing.T) {
	needIsolation(t)
	if err := doctor.Fit(); err != nil {
		t.Skip("no subject can run on this machine: ", err)
	}
	s, _ := rollingUpdateWith(t, local.Driver{}, subject.Subject{Adapter: testAdapter(t, "in-cluster-bundled"), Controller: built.Command(t, "nginx-ingress-controller")}, apiFaults)
	check(t, s)
	checkNginx(t, s)
	checkFaults(t, s)
}

// In an image, the files are at the same path, even if it contains a link, and the image's user may
// read them.
func TestImageInCluster(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("an image needs root")
		}
		needIsolation(t)
		checkInformerImage(t, local.Driver{}, informerImage(t))
	})
	t.Run("container", func(t *testing.T) {
		needEngine(t)
		load(t, informerImage(t), informerTag)
		checkInformerImage(t, container.Driver{}, informerTag)
	})
}

func checkInformerImage(t *testing.T, d driver.Driver, image string) {
	t.Helper()
	s, dir := rollingUpdateWith(t, d, subject.Subject{Name: "subject", Adapter: testAdapter(t, "in-cluster"), Controller: subject.ImagePrefix + image}, "")
	checkSingle(t, s)
	checkAccount(t, dir)
}

// informer builds the program in testdata.
func informer(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program; not run with -short")
	}
	path := filepath.Join(t.TempDir(), "informer")
	if out, err := command.New(t.Context(), "go", "build", "-o", path, "./testdata/informer").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// informerTag is the name of the program's image.
const informerTag = "windtunnel.test/informer:v1"

// informerImage writes an image of the program, which runs as a user of its own. As in Debian's images,
// /var/run is a link.
func informerImage(t *testing.T) string {
	t.Helper()
	path := informer(t)
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, dir := range []string{"run", "var"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/run", filepath.Join(root, "var", "run")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "informer"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	forktest.AddLibraries(t, root, path)
	return forktest.Save(t, informerTag, forktest.Image(t, root, runtime.GOARCH, func(c *v1.Config) {
		c.Entrypoint, c.User = []string{"/informer"}, "4321:4321"
	}))
}

func needIsolation(t *testing.T) {
	t.Helper()
	if err := isolated.Allowed(); err != nil {
		t.Skip(err)
	}
}

// checkFaults checks that every fault of the scenario struck the controller.
func checkFaults(t *testing.T, s measure.Subject) {
	t.Helper()
	if s.Faults != 3 {
		t.Errorf("%d faults", s.Faults)
	}
	for _, struck := range s.Struck {
		t.Logf("%s struck %d %s", struck.Name, struck.Count, struck.Of)
		if struck.Missed > 0 {
			t.Errorf("%+v", struck)
		}
	}
}

// checkAccount checks the user of a run's controller, and how it reached the API server.
func checkAccount(t *testing.T, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "controller.log"))
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(`system:serviceaccount:informers:informer in informers at https://127\.0\.0\.1:\d+, KUBECONFIG ""`); !want.Match(text) {
		t.Errorf("the log of the controller has no %s: %s", want, strings.TrimSpace(string(text)))
	}
}
