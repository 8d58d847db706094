// Package nginx runs the nginx program: it finds the binary and its modules, tests configurations,
// and starts, reloads and quits nginx. It stands between the controller and that program. Its one
// rule: it signals only processes that it started, or that an earlier controller with the same root
// started.
package nginx

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"windtunnel.dev/internal/command"
)

// BinaryVariable is the environment variable from which ingress-nginx reads the path of the nginx
// binary.
const BinaryVariable = "NGINX_BINARY"

// probeTimeout bounds `nginx -V`, which only prints, and each `nginx -t` that tests for modules or
// variables: those load every module, which takes seconds on a busy machine.
const probeTimeout = time.Minute

// Nginx is an nginx program and its build options.
type Nginx struct {
	// Binary is its absolute path.
	Binary string
	// Version is its version, for example "1.22.1". OpenResty's has four parts; the first three are
	// nginx's version.
	Version string
	// ModulesPath is the folder of its dynamic modules.
	ModulesPath string

	arguments []string // of configure at build time
}

// Find looks for nginx and reads its version and build options. If binary is empty, it searches
// $NGINX_BINARY, /usr/bin/nginx (where ingress-nginx looks), $PATH, and the places where Debian and
// OpenResty install nginx. If binary or the variable is set, Find tries nothing else.
func Find(binary string) (*Nginx, error) {
	path, err := locate(binary)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	out, err := command.New(ctx, path, "-V").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("asking nginx for its version (%s -V): %w: %s", path, err, strings.TrimSpace(string(out)))
	}
	build, err := parseBuild(string(out))
	if err != nil {
		return nil, fmt.Errorf("%s -V: %w", path, err)
	}
	return &Nginx{
		Binary:      path,
		Version:     build.version,
		ModulesPath: build.modulesPath(),
		arguments:   build.arguments,
	}, nil
}

func locate(binary string) (string, error) {
	if binary != "" {
		return executable(binary, "the given nginx binary")
	}
	if named := os.Getenv(BinaryVariable); named != "" {
		return executable(named, "the nginx binary of $"+BinaryVariable)
	}
	places := []string{"/usr/bin/nginx", "nginx", "/usr/sbin/nginx", "/usr/local/openresty/nginx/sbin/nginx"}
	for _, place := range places {
		if path, err := executable(place, ""); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no nginx in $" + BinaryVariable + ", $PATH or the usual places: " +
		"apt-get install nginx libnginx-mod-http-lua lua-cjson")
}

func executable(name, what string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s cannot be run: %w", what, err)
	}
	return filepath.Abs(path)
}

// AtLeast reports whether nginx has this version or a newer one. It panics if version is not
// numbers and dots, which is a programming error.
func (n *Nginx) AtLeast(version string) bool {
	return compareVersions(n.Version, version) >= 0
}

// Test checks whether nginx accepts a configuration file (`nginx -t`). The error contains nginx's
// message, with file and line, and the module that causes it, if one does.
func (n *Nginx) Test(ctx context.Context, conf string) error {
	err := n.test(ctx, conf)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w%s", err, n.hint(err.Error()))
}

// Undecided reports whether an error of Test is no verdict on the configuration: nginx could not be
// started, or was killed, for example because the machine ran out of memory.
func Undecided(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return errors.As(err, new(*exec.Error)) || errors.As(err, new(*fs.PathError))
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && slices.Contains([]syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}, status.Signal())
}

// test is Test without the hint about modules. The probe for modules uses it.
func (n *Nginx) test(ctx context.Context, conf string) error {
	return n.run(ctx, "testing the configuration", conf, "-t")
}

// run executes nginx with a configuration and waits until it exits.
func (n *Nginx) run(ctx context.Context, what, conf string, args ...string) error {
	conf, err := filepath.Abs(conf) // nginx reads a relative path from its prefix
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	cmd := command.New(ctx, n.Binary, append([]string{"-c", conf}, args...)...)
	out, err := cmd.CombinedOutput()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) { // ErrWaitDelay: nginx succeeded, but its output stayed open
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if message := complaint(string(out)); message != "" && !Undecided(err) {
		return fmt.Errorf("%s: %s", what, message)
	}
	return fmt.Errorf("%s (%s): %w", what, strings.Join(cmd.Args, " "), err)
}
