package adapterstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// nginx is an nginx whose servers a controller writes. As with NGINX's own controllers, it serves
// the version of its configuration on a Unix socket, so that the controller knows when a reload is
// done.
type nginx struct {
	address string // where it serves HTTP
	conf    string // the file with its servers, which nginx.conf includes
	socket  string // where it serves its version

	reload   func(context.Context) error // after conf was written; it also starts an nginx that does not run yet
	reloaded func()                      // called when the new configuration is served

	applied []Route
	version int
}

// apply makes nginx serve the routes, and returns when it does.
func (n *nginx) apply(ctx context.Context, routes []Route) error {
	if n.version > 0 && reflect.DeepEqual(routes, n.applied) {
		return nil
	}
	n.applied = routes
	n.version++
	if err := os.MkdirAll(filepath.Dir(n.conf), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(n.conf, n.servers(routes), 0o644); err != nil {
		return err
	}
	if err := n.reload(ctx); err != nil {
		return err
	}
	if err := n.await(ctx); err != nil {
		return err
	}
	n.reloaded()
	return nil
}

// await waits until nginx serves the newest version.
func (n *nginx) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reloadTime)
	defer cancel()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, // the next connection may reach another worker
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", n.socket)
		},
	}}
	for {
		told, err := told(ctx, &client)
		if err == nil && told == strconv.Itoa(n.version) {
			return nil
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return fmt.Errorf("nginx tells version %q instead of %d: %w", told, n.version, ctx.Err())
		}
	}
}

func told(ctx context.Context, client *http.Client) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://config-version/", nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// servers returns the servers of nginx: one for each host, and one for the version.
func (n *nginx) servers(routes []Route) []byte {
	var conf bytes.Buffer
	add := func(format string, values ...any) { fmt.Fprintf(&conf, format+"\n", values...) }
	add("server { listen unix:%s; access_log off; return 200 %d; }", n.socket, n.version)
	add("server { listen %s default_server; return 404; }", n.address)
	locations := map[string][]string{} // by host
	var hosts []string
	for i, r := range routes {
		answer := "return 503;"
		if len(r.Endpoints) > 0 {
			add("upstream u%d {", i)
			for _, endpoint := range r.Endpoints {
				add("  server %s;", endpoint)
			}
			add("}")
			answer = fmt.Sprintf("proxy_set_header Host $host; proxy_pass http://u%d;", i)
		}
		if locations[r.Host] == nil {
			hosts = append(hosts, r.Host)
		}
		locations[r.Host] = append(locations[r.Host], fmt.Sprintf("  location %s { %s }", r.Path, answer))
	}
	for _, host := range hosts {
		add("server {\n  listen %s;\n  server_name %s;\n%s\n}", n.address, host, strings.Join(locations[host], "\n"))
	}
	return conf.Bytes()
}
