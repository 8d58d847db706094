package adapterstest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"syscall"
	"time"

	"windtunnel.dev/internal/command"
)

// runForked is a controller that writes the configuration of a haproxy, starts it with -W, and reloads
// it by SIGUSR2 after each change.
func runForked(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet(forked, flag.ContinueOnError)
	address := flags.String("http", "", "where the proxy listens")
	proxy, directory := flags.String("proxy", "", "haproxy, or what takes its flags"), flags.String("directory", "", "of its files")
	var from source
	from.addFlags(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	return followWithHAProxy(ctx, from, &haproxy{program: *proxy, address: *address, directory: *directory, reloaded: "stub: haproxy reloaded"})
}

// followWithHAProxy serves the routes of the source with a haproxy, until ctx ends.
func followWithHAProxy(ctx context.Context, from source, h *haproxy) error {
	signal.Ignore(syscall.SIGUSR2) // inherited by the proxy, which an early signal would kill
	err := from.follow(ctx, func(routes []Route) error { return h.apply(ctx, routes) })
	if h.process != nil {
		_ = h.process.Signal(syscall.SIGTERM)
		_, _ = h.process.Wait()
	}
	return err
}

// haproxy is the haproxy process that a controller runs.
type haproxy struct {
	program, address, directory string
	reloaded                    string // the line of the log after a reload

	process *os.Process // nil until the first routes are known
	applied []Route
	version int // of the configuration
}

// The times of a reload.
const (
	askEvery    = 10 * time.Millisecond // whether the new configuration is served
	signalEvery = 3 * time.Second       // a proxy that is about to start loses a signal
	reloadTime  = time.Minute           // at most
)

// apply starts the proxy or, if something has changed, reloads it. It returns when the proxy serves the
// routes.
func (h *haproxy) apply(ctx context.Context, routes []Route) error {
	if h.process != nil && reflect.DeepEqual(routes, h.applied) {
		return nil
	}
	h.applied = routes
	h.version++
	path := filepath.Join(h.directory, "haproxy.cfg")
	if err := os.WriteFile(path+".next", h.conf(routes), 0o644); err != nil {
		return err
	}
	if err := os.Rename(path+".next", path); err != nil {
		return err
	}
	if h.process == nil {
		proxy := command.New(context.WithoutCancel(ctx), h.program, master, "-db", "-f", path)
		proxy.Stdout, proxy.Stderr = os.Stdout, os.Stderr
		if err := proxy.Start(); err != nil {
			return err
		}
		h.process = proxy.Process
		return h.await(ctx, func() error { return nil })
	}
	err := h.await(ctx, func() error { return h.process.Signal(syscall.SIGUSR2) })
	fmt.Fprintln(os.Stderr, h.reloaded)
	return err
}

// await waits until the proxy serves the newest configuration, and calls nudge at once and then
// every signalEvery.
func (h *haproxy) await(ctx context.Context, nudge func() error) error {
	ctx, cancel := context.WithTimeout(ctx, reloadTime)
	defer cancel()
	for n := 0; ctx.Err() == nil; n++ {
		if n%int(signalEvery/askEvery) == 0 {
			if err := nudge(); err != nil {
				return err
			}
		}
		if h.serves(ctx) {
			return nil
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

func (h *haproxy) serves(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.address+versionPath(h.version), nil)
	if err != nil {
		return false
	}
	request.Close = true // the next connection may reach another process
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// versionPath is the path that only a proxy with this version of the configuration serves.
func versionPath(version int) string { return fmt.Sprintf("/stub-version-%d", version) }

// conf returns the configuration. The stub reads its first line, and haproxy the others.
func (h *haproxy) conf(routes []Route) []byte {
	text, err := json.Marshal(stubConf{h.address, h.version, routes})
	if err != nil {
		panic(err) // these are plain values
	}
	var conf bytes.Buffer
	add := func(format string, values ...any) { fmt.Fprintf(&conf, format+"\n", values...) }
	add("# %s", text)
	add("global")
	add("  stats socket %s mode 600 expose-fd listeners", filepath.Join(h.directory, "haproxy.sock"))
	add("  hard-stop-after %dms", drainTime/time.Millisecond)
	add("defaults")
	add("  mode http")
	add("  timeout connect 5s\n  timeout client 60s\n  timeout server 60s")
	add("frontend http")
	add("  bind %s", h.address)
	add("  monitor-uri %s", versionPath(h.version))
	for i, r := range routes {
		add("  use_backend b%d if { hdr(host) -i %s } { path_beg %s }", i, r.Host, r.Path)
	}
	for i, r := range routes {
		add("backend b%d", i)
		for n, endpoint := range r.Endpoints {
			add("  server s%d %s", n, endpoint)
		}
	}
	return conf.Bytes()
}
