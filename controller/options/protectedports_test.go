package options_test

import (
	"net/netip"
	"slices"
	"testing"

	"windtunnel.dev/controller/options"
)

func TestNamesProtected(t *testing.T) {
	for url, want := range map[string]bool{
		"http://127.0.0.1:10246/configuration/backends": true,
		"https://127.0.0.1:10246":                       true,
		"http://127.0.0.1:10246$request_uri":            true,
		"http://127.0.0.1:10246?a":                      true,
		"http://127.0.0.1:10247":                        true,
		"http://127.0.0.1:10254/metrics":                true,
		"http://127.0.0.1:10245/debug/pprof/":           true,
		"http://127.0.0.1:442/":                         true,
		"http://127.9.9.9:10246":                        true,
		"http://0.0.0.0:10246":                          true,
		"http://0:10246":                                true,
		"http://127.1:10246":                            true,
		"http://127.0.1:10246":                          true,
		"http://2130706433:10246":                       true,
		"http://0x7f000001:10246":                       true,
		"http://0x7f.1:10246":                           true,
		"http://0177.0.0.01:10246":                      true,
		"http://localhost:10246":                        true,
		"http://LOCALHOST.:10246":                       true,
		"http://a.localhost:10246":                      true,
		"http://127.0.0.1.:10246":                       true,
		"http://127.0.0.1:010246":                       true,
		"http://[::1]:10246":                            true,
		"http://[::]:10246":                             true,
		"http://[::ffff:127.0.0.1]:10246":               true,
		"http://[::ffff:7f00:1]:10246":                  true,
		"http://[::ffff:0.0.0.0]:10246":                 true,
		"http://unix:/tmp/nginx/a.sock:/":               true,
		"http://UNIX:/tmp/nginx/a.sock:/":               true,
		"http://127.0.0.1:4180/oauth2/auth":             false, // next to us in the pod
		"http://127.0.0.1":                              false,
		"http://10.0.0.1:10246":                         false,
		"http://auth.example:10254/":                    false,
		"http://auth.example/127.0.0.1:10246":           false,
		"http://$host:10246/":                           false,
		"http://1.2.3.4.5:10246":                        false,
		"127.0.0.1:10246":                               false,
		"":                                              false,
	} {
		if got := options.DefaultPorts.NamesProtected(url); got != want {
			t.Errorf("%s: %v, want %v", url, got, want)
		}
	}
}

func TestProtected(t *testing.T) {
	ports := options.Ports{Status: 3, Stream: 4, Profiler: 5}
	if got := ports.Protected(); !slices.Equal(got, []int{3, 4, 5}) {
		t.Error(got)
	}
	if ports.IsProtected(netip.MustParseAddr("127.0.0.1"), 80) || !ports.IsProtected(netip.MustParseAddr("::ffff:127.0.0.1"), 4) || ports.IsProtected(netip.MustParseAddr("10.0.0.1"), 4) {
		t.Error("a protected port is protected on loopback, and only there")
	}
}
