package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"windtunnel.dev/internal/forktest"
	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/drivertest"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/subject"
)

// forkImage writes an image of a fork.
func forkImage(t *testing.T) string {
	t.Helper()
	if err := isolated.Allowed(); err != nil || os.Geteuid() != 0 {
		t.Skip("an image needs root and namespaces: ", err)
	}
	return forktest.File(t)
}

// emptyImage writes an image with neither files nor a command.
func emptyImage(t *testing.T, architecture string) string {
	t.Helper()
	return forktest.Save(t, forktest.Tag, forktest.Image(t, t.TempDir(), architecture, func(*v1.Config) {}))
}

// ofImage is a driver that runs an image instead of the bundled controller.
type ofImage struct {
	Driver
	file string
}

func (d ofImage) Prepare(ctx context.Context, s subject.Subject, in driver.Options) (driver.Instance, error) {
	s.Controller = subject.ImagePrefix + d.file
	return d.Driver.Prepare(ctx, s, in)
}

// A controller from an image passes the tests of all drivers, and nothing at its paths on this machine
// changes.
func TestImage(t *testing.T) {
	d := ofImage{file: forkImage(t)}
	before := machine(t)
	drivertest.Run(t, d)
	if after := machine(t); after != before {
		t.Errorf("the files of this machine were\n%s\nand are\n%s", before, after)
	}
}

// The controller and nginx of an image run, as the user of the image; after the run its files are gone.
func TestImageRunsItsOwnPrograms(t *testing.T) {
	instance := launchedIn(t, subject.Subject{Name: "fork", Controller: subject.ImagePrefix + forkImage(t)}, t.TempDir())
	master, err := instance.Master()
	if err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		pid int
		exe string
	}{"nginx": {master, forktest.Nginx}, "the controller": {instance.Controller(), "/usr/local/bin/bundled"}} {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", test.pid))
		if err != nil || exe != test.exe {
			t.Errorf("%s is %s, %v: %q", what, exe, err, probe.Command(test.pid))
		}
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", test.pid))
		if err != nil || !strings.Contains(string(status), "\nUid:\t101\t101\t101\t101\n") {
			t.Errorf("%s runs as another user than 101: %v", what, err)
		}
	}
	if all := instance.Setup().Inapplicable(); !slices.ContainsFunc(all, func(n event.NotApplicable) bool { return slices.Contains(n.Measurements, "posts") }) {
		t.Errorf("POSTs apply to a fork, whose log does not tell of them: %+v", all)
	}
	root := instance.(interface{ Kubeconfig() string }).Kubeconfig()
	folder := filepath.Dir(filepath.Dir(root))
	if _, err := os.Stat(filepath.Join(folder, "rootfs", forktest.Nginx)); err != nil {
		t.Error(err)
	}
	if err := instance.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the subject is left: %v", err)
	}
}

// The nginx, template and Lua code of a fork are those that its subject names.
func TestForkRunsItsOwnNginx(t *testing.T) {
	if err := isolated.Allowed(); err != nil {
		t.Skip(err)
	}
	root := forktest.Root(t)
	in := func(path string) string { return filepath.Join(root, path) }
	dir := t.TempDir()
	instance := launchedIn(t, subject.Subject{
		Name: "fork", Controller: in(forktest.Controller), Nginx: in(forktest.Nginx), Lua: in(forktest.Lua), Template: in(forktest.Template),
	}, dir)
	master, err := instance.Master()
	if err != nil {
		t.Fatal(err)
	}
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", master)); err != nil || exe != in(forktest.Nginx) {
		t.Errorf("nginx is %s, %v", exe, err)
	}
	for _, part := range []string{forktest.Lua + "/nginx/ngx_conf_srv_hdr_filter.lua", forktest.Template} {
		own, err := os.ReadFile(in(part))
		if err != nil {
			t.Fatal(err)
		}
		if seen, err := os.ReadFile(fmt.Sprintf("/proc/%d/root%s", master, part)); err != nil || !slices.Equal(seen, own) {
			t.Errorf("%s: %v, or it is not the fork's", part, err)
		}
	}
	if err := instance.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if conf, err := os.ReadFile(filepath.Join(dir, "nginx.conf")); err != nil || !strings.Contains(string(conf), "add_header "+forktest.TemplateHeader) {
		t.Errorf("nginx.conf of the run is not of the fork's template: %v", err)
	}
}

// launchedIn starts a subject, whose files are kept in a folder.
func launchedIn(t *testing.T, s subject.Subject, dir string) driver.Instance {
	t.Helper()
	instance, err := Driver{}.Prepare(t.Context(), s, driver.Options{Dir: dir, Log: event.NewLog(&strings.Builder{}, time.Now())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { instance.Stop(context.Background()) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // reached only if the test fails
	defer cancel()
	if err := instance.Launch(ctx); err != nil {
		t.Fatal(err)
	}
	return instance
}

// An image that cannot run is refused before anything starts, and leaves nothing.
func TestImageThatCannotRun(t *testing.T) {
	if err := isolated.Allowed(); err != nil || os.Geteuid() != 0 {
		t.Skip("an image needs root and namespaces: ", err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	for name, test := range map[string]struct{ file, want string }{
		"missing":      {"/no/such/image.tar", "image /no/such/image.tar: "},
		"architecture": {emptyImage(t, "s390x"), "it is for linux/s390x"},
		"no command":   {emptyImage(t, goruntime.GOARCH), "neither ENTRYPOINT nor CMD"},
	} {
		_, err := Driver{}.Prepare(t.Context(), subject.Subject{Name: "fork", Controller: subject.ImagePrefix + test.file}, driver.Options{Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s in one line", name, err, test.want)
		}
		if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*run-fork*")); len(left) > 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

// Where an image cannot run as processes, one line says so and names the other driver.
func TestImageIsRefused(t *testing.T) {
	root, allowed := isRoot, allowsIsolation
	defer func() { isRoot, allowsIsolation = root, allowed }()
	image := subject.Subject{Name: "fork", Controller: "image:./fork.tar"}
	for name, test := range map[string]struct {
		root    bool
		allowed error
		set     func(*subject.Subject)
		want    string
	}{
		"not root":      {false, nil, func(*subject.Subject) {}, "run windtunnel as root, or use --driver container"},
		"no namespaces": {true, errors.New("no namespaces here"), func(*subject.Subject) {}, "no namespaces here: use --driver container"},
		"settings":      {true, nil, func(s *subject.Subject) { s.Lua = "/lua" }, "are those of its image: remove nginx, lua and template"},
		"adapter":       {true, nil, func(s *subject.Subject) { s.Adapter = "contour" }, "does not begin with {{.Controller}}"},
	} {
		isRoot, allowsIsolation = func() bool { return test.root }, func() error { return test.allowed }
		s := image
		test.set(&s)
		if why := (Driver{}).UnsupportedSubject(s); !strings.Contains(why, test.want) || strings.Contains(why, "\n") {
			t.Errorf("%s: %q, want %s", name, why, test.want)
		}
	}
}
