package traffic

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/backend"
)

// The end of an idle connection is logged when it happens, not when the connection is next used.
func TestEndsOfIdleConnectionsAreLogged(t *testing.T) {
	for _, lane := range []string{"http", "post"} {
		for name, end := range map[string]func(net.Conn){
			"FIN": func(c net.Conn) { c.Close() },
			"RST": func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0); c.Close() }, //nolint:forcetypeassert // a TCP server
		} {
			t.Run(lane+" "+name, func(t *testing.T) {
				served := make(chan net.Conn, 1)
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set(backend.PodHeader, "demo/web-1")
				}))
				server.Config.ConnState = func(c net.Conn, state http.ConnState) {
					if state == http.StateIdle {
						served <- c
					}
				}
				server.Start()
				t.Cleanup(server.Close)
				c := newClient(t, lane, netip.MustParseAddrPort(server.Listener.Addr().String()))
				c.fire()
				end(<-served)
				for until := time.Now().Add(nginxtest.Patience); ; time.Sleep(time.Millisecond) {
					opened, ended := 0, 0
					for _, e := range c.log.all(t) {
						switch {
						case e.Socket == nil:
						case e.Socket.Opened:
							opened++
						default:
							ended++
						}
					}
					if opened == 1 && ended == 1 {
						return
					}
					if time.Now().After(until) {
						t.Fatalf("%d connections opened, %d ended", opened, ended)
					}
				}
			})
		}
	}
}

// A connection that is forgotten is not reported, and neither is anything after stop.
func TestHangups(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	watch, err := watchHangups()
	if err != nil {
		t.Fatal(err)
	}
	reported := make(chan string, 3)
	add := func(name string) (server net.Conn, forget func()) {
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		server, err = listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		forget, err = watch.add(client.(*net.TCPConn), func() { reported <- name }) //nolint:forcetypeassert // it is TCP
		if err != nil {
			t.Fatal(err)
		}
		return server, forget
	}
	first, forget := add("forgotten")
	second, _ := add("ended")
	third, _ := add("after stop")
	forget()
	first.Close()
	second.Close()
	if got := <-reported; got != "ended" {
		t.Errorf("%s was reported", got)
	}
	watch.stop()
	third.Close()
	if len(reported) > 0 {
		t.Errorf("%s was reported", <-reported)
	}
}
