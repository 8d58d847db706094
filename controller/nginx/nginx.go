// Package nginx stands between the controller and the nginx program: it finds
// the binary, tells what is built into it, and starts, tests, reloads and quits
// it. Its one rule: it signals only processes that it started itself, or that an
// earlier controller with the same root has left.
package nginx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"windtunnel.dev/internal/command"
)

// BinaryVariable names the environment variable that ingress-nginx reads the
// path of the nginx binary from.
const BinaryVariable = "NGINX_BINARY"

// probeTimeout bounds `nginx -V`, which does nothing but print.
const probeTimeout = 10 * time.Second

// Nginx is one nginx program and what is built into it.
type Nginx struct {
	// Binary is its absolute path.
	Binary string
	// Version is its version, such as "1.22.1"; OpenResty's has four parts, of
	// which the first three are nginx's.
	Version string
	// ModulesPath is the folder of its dynamic modules.
	ModulesPath string

	arguments []string // it was configured with
}

// Find looks for nginx and asks it what it is. An empty binary means the first
// of $NGINX_BINARY, /usr/bin/nginx (where ingress-nginx looks), $PATH and the
// places where Debian and OpenResty put it. A binary or a variable that is set
// is taken at its word: nothing else is tried.
func Find(binary string) (*Nginx, error) {
	path, err := locate(binary)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	out, err := command.New(ctx, path, "-V").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("asking nginx what it is (%s -V): %w: %s", path, err, strings.TrimSpace(string(out)))
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
		return executable(binary, "the nginx binary asked for")
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

// AtLeast says whether this nginx is of that version or newer. A version that
// is not numbers and dots is a programming error and panics.
func (n *Nginx) AtLeast(version string) bool {
	return compareVersions(n.Version, version) >= 0
}

// Test asks nginx whether it would accept the configuration file (`nginx -t`).
// The error carries nginx's own words, with file and line, and the module that
// is behind them.
func (n *Nginx) Test(ctx context.Context, conf string) error {
	err := n.test(ctx, conf)
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w%s", err, n.hint(err.Error()))
}

// test is Test without a hint at modules, for the questions that find those out.
func (n *Nginx) test(ctx context.Context, conf string) error {
	return n.run(ctx, "testing the configuration", conf, "-t")
}

// run executes nginx with a configuration and waits for its end.
func (n *Nginx) run(ctx context.Context, what, conf string, args ...string) error {
	conf, err := filepath.Abs(conf) // nginx reads a relative path from its prefix
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	cmd := command.New(ctx, n.Binary, append([]string{"-c", conf}, args...)...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if said := complaint(string(out)); said != "" {
		return fmt.Errorf("%s: %s", what, said)
	}
	return fmt.Errorf("%s (%s): %w", what, strings.Join(cmd.Args, " "), err)
}
