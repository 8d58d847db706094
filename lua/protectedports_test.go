package lua_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/nginxtest"
)

const secret = "abc"

// ask sends a request to the status server, with a header if it is not empty.
func (s *site) ask(method, uri, name, value string) int {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.Status+uri, strings.NewReader("[]"))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Close = true
	if name != "" {
		request.Header.Set(name, value)
	}
	return do(s.t, http.DefaultClient, request).status
}

func TestOnlyTheControllerChangesTheConfiguration(t *testing.T) {
	s := start(t, setup{Replace: map[string]string{"secret": secret}, Config: map[string]any{"backends_delta": true}})
	s.expectLog("refused a request without the controller's secret")
	s.expectLog("refused a proxied request")
	for _, uri := range []string{"/configuration/backends", "/configuration/backends/delta?base=1", "/configuration/servers", "/configuration/general", "/configuration/other"} {
		for _, header := range [][2]string{{"", ""}, {"Authorization", "Bearer " + secret + "x"}, {"Authorization", "Bearer "}, {"Authorization", secret}, {"Authorization", "Basic " + secret}} {
			if got := s.ask(http.MethodPost, uri, header[0], header[1]); got != http.StatusForbidden {
				t.Errorf("POST %s with %q: status %d, want 403", uri, header, got)
			}
		}
	}
	if got := s.ask(http.MethodGet, "/is-dynamic-lb-initialized", "", ""); got != http.StatusInternalServerError {
		t.Errorf("the load balancer is initialized without backends: status %d", got)
	}
	if got := s.ask(http.MethodPost, "/configuration/backends", "Authorization", "Bearer "+secret); got != http.StatusCreated {
		t.Errorf("the controller's own POST: status %d, want 201", got)
	}
	for uri, want := range map[string]int{"/configuration/backends": http.StatusOK, "/configuration/certs?hostname=a": http.StatusNotFound, "/is-dynamic-lb-initialized": http.StatusOK} {
		if got := s.ask(http.MethodGet, uri, "", ""); got != want {
			t.Errorf("GET %s by a tool of the pod: status %d, want %d", uri, got, want)
		}
	}
}

func TestProxiedRequestsToTheConfigurationAreRefused(t *testing.T) {
	s := start(t, setup{})
	s.expectLog("refused a proxied request")
	for _, name := range []string{"X-Forwarded-For", "X-Real-IP", "X-Sent-From"} {
		for _, uri := range []string{"/configuration/backends", "/configuration/certs?hostname=a"} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if got := s.ask(method, uri, name, "0"); got != http.StatusForbidden {
					t.Errorf("%s %s with %s: status %d, want 403", method, uri, name, got)
				}
			}
		}
	}
}

func TestOnlyTheControllerChangesTCPEndpoints(t *testing.T) {
	s, w, control := streamSite(t, setup{Replace: map[string]string{"secret": secret}})
	s.expectLog("secret is wrong or missing")
	text := line(t, backend{Name: "tcp-db", Endpoints: pods(t, 1)})
	for _, bad := range []string{text, "Bearer " + text, "Bearer " + secret + text, "Bearer " + secret + "x " + text, secret + " " + text} {
		if answer := tell(t, control, bad); !strings.HasPrefix(answer, "error: the controller's secret") {
			t.Errorf("the answer to %q is %q", bad, answer)
		}
	}
	if answer := tell(t, control, "Bearer "+secret+" "+text); answer != "" {
		t.Errorf("the controller gets the answer %q", answer)
	}
	s.nginx.Await("the endpoint", func() bool { return w.getPath("/tcp", "X-Upstream", "tcp-db").status == http.StatusOK })
}

// A certificate chooses its OCSP responder. Without a check, an OCSP request to the status port
// would replace the backends.
func TestOCSPRequestsDoNotReachTheConfiguration(t *testing.T) {
	s, https := startTLS(t, setup{Workers: 1, Config: map[string]any{"enable_ocsp": true}})
	s.expectLog("the responder is a port of the controller")
	s.post()
	_, before := s.call(http.MethodGet, "/configuration/backends", "")
	_, port, _ := net.SplitHostPort(s.Status)
	s.postServers(map[string]string{"a": newAuthority(t).issue(t, 2, "http://127.0.0.1:"+port+"/configuration/backends")}, map[string]string{"shop.example": "a"})
	stapled(t, https)
	s.nginx.Await("the error", func() bool { return strings.Contains(s.nginx.ErrorLog(), "the responder is a port of the controller") })
	if _, after := s.call(http.MethodGet, "/configuration/backends", ""); after != before {
		t.Errorf("the backends are now %q", after)
	}
}

// A responder may send an endless response. A worker must not read all of it.
func TestEndlessOCSPResponse(t *testing.T) {
	for name, answer := range map[string]string{
		"a line": "a", "a head": "X-A: b\r\n", "a body": "\r\nabc", "chunks": "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
		"a line of a chunk": "Transfer-Encoding: chunked\r\n\r\n1;", "a length": "Content-Length: 99999999999999\r\n\r\na", "a negative length": "Content-Length: -1\r\n\r\na",
	} {
		t.Run(name, func(t *testing.T) {
			s, https := startTLS(t, setup{Workers: 1, Config: map[string]any{"enable_ocsp": true}})
			s.expectLog("OCSP response of certificate")
			responder := listen(t)
			ended := make(chan int64, 1)
			go func() {
				conn, err := responder.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				sent, _ := io.Copy(conn, io.MultiReader(strings.NewReader("HTTP/1.1 200 OK\r\n"+answer), endless(answer[len(answer)-min(8, len(answer)):])))
				ended <- sent
			}()
			s.postServers(map[string]string{"a": newAuthority(t).issue(t, 2, "http://"+responder.Addr().String()+"/")}, map[string]string{"shop.example": "a"})
			stapled(t, https)
			select {
			case sent := <-ended:
				if sent > 32<<20 { // the worker reads 1 MiB, the rest is in the kernel's buffers
					t.Errorf("the worker accepted %d bytes", sent)
				}
			case <-t.Context().Done():
			case <-time.After(nginxtest.Patience):
				t.Error("the worker still reads")
			}
			s.nginx.Await("the error", func() bool { return strings.Contains(s.nginx.ErrorLog(), "OCSP response of certificate") })
		})
	}
}

// endless repeats a text forever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	return copy(p, strings.Repeat(string(e), 1+len(p)/len(e))), nil
}
