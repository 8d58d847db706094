package lua_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func (s *site) wantCall(method, uri, body string, wantStatus int, wantText string) {
	s.t.Helper()
	status, text := s.call(method, uri, body)
	if status != wantStatus || text != wantText {
		s.t.Errorf("%s %s: %d %.80q, want %d %.80q", method, uri, status, text, wantStatus, wantText)
	}
}

func TestReadyAfterTheFirstPost(t *testing.T) {
	s := start(t, setup{})
	if status, _ := s.call("GET", "/is-dynamic-lb-initialized", ""); status != http.StatusInternalServerError {
		t.Errorf("status %d before the first POST, want 500", status)
	}
	s.wantCall("GET", "/configuration/backends", "", http.StatusOK, "nil")
	s.wantCall("POST", "/configuration/backends", "[]", http.StatusCreated, "")
	s.wantCall("GET", "/is-dynamic-lb-initialized", "", http.StatusOK, "OK\n")
}

// Reading many backends and their deltas blocks a worker for long, and probes are frequent.
func TestReadinessDoesNotReadTheBackends(t *testing.T) {
	s := start(t, setup{Workers: 1, Config: deltas, Server: `location = /unreadable { content_by_lua_block {
require("deltas").whole = function() error("the backends are read") end
} }`})
	s.sequence("[]")
	s.workers("none")[0].getPath("/unreadable")
	s.wantCall("GET", "/is-dynamic-lb-initialized", "", http.StatusOK, "OK\n")
}

func TestGetReturnsWhatWasPosted(t *testing.T) {
	s := start(t, setup{})
	for _, path := range []string{"/configuration/backends", "/configuration/general"} {
		for _, body := range []string{`[ {"name": "ü\u0000"} ]`, "not JSON \x00\xff"} {
			s.expectLog("could not parse backends data")
			s.wantCall("POST", path, body, http.StatusCreated, "")
			s.wantCall("GET", path, "", http.StatusOK, body)
		}
	}
}

// nginx keeps a body of up to client_body_buffer_size in memory, and a larger one in a file.
func TestBodiesAroundTheBufferSize(t *testing.T) {
	s := start(t, setup{})
	s.expectLog("a client request body is buffered to a temporary file")
	const buffer = 16 << 10
	for _, size := range []int{1, buffer - 1, buffer, buffer + 1, 2 * buffer, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			body := "[" + strings.Repeat(" ", max(size-2, 0)) + "]"
			body = body[len(body)-size:]
			if size == 1 {
				body = "7"
				s.expectLog("could not parse backends data")
			}
			s.wantCall("POST", "/configuration/backends", body, http.StatusCreated, "")
			s.wantCall("GET", "/configuration/backends", "", http.StatusOK, body)
		})
	}
}

func TestTheAPIRejectsBadRequests(t *testing.T) {
	s := start(t, setup{})
	s.expectLog("dynamic-configuration: unable to read valid request body")
	s.wantCall("POST", "/configuration/backends", "[]", http.StatusCreated, "")
	for _, method := range []string{"PUT", "DELETE", "PATCH"} {
		s.wantCall(method, "/configuration/backends", "", http.StatusBadRequest, "Only POST and GET requests are allowed!")
	}
	s.wantCall("POST", "/configuration/backends", "", http.StatusBadRequest, "unable to read valid request body")
	s.wantCall("POST", "/configuration/backends/delta?base=1", `{"changed":[],"removed":[]}`, http.StatusNotFound, "Not found!")
	s.wantCall("GET", "/configuration/other", "", http.StatusNotFound, "Not found!")
	s.wantCall("GET", "/configuration/backends?x=1", "", http.StatusNotFound, "Not found!")
	s.wantCall("GET", "/configuration/backends", "", http.StatusOK, "[]")
}

// The old backends stay, even for new workers.
func TestOversizedBackendsAreRejected(t *testing.T) {
	s := start(t, setup{})
	s.expectLog("a client request body is buffered to a temporary file")
	s.expectLog("dynamic-configuration: error updating configuration: no memory")
	s.wantCall("POST", "/configuration/backends", `[{"name":"small"}]`, http.StatusCreated, "")
	s.wantCall("POST", "/configuration/backends", strings.Repeat(" ", 20<<20)+"[]", http.StatusBadRequest, "error updating configuration: no memory")
	s.wantCall("GET", "/configuration/backends", "", http.StatusOK, `[{"name":"small"}]`)
}

// A POST takes free memory only from the dictionary that stores it.
func TestDictionaries(t *testing.T) {
	s := start(t, setup{})
	free := func() map[string]int {
		t.Helper()
		status, text := s.call(http.MethodGet, "/configuration/dictionaries", "")
		var sizes map[string]struct{ Capacity, Free int }
		if err := json.Unmarshal([]byte(text), &sizes); err != nil || status != http.StatusOK {
			t.Fatalf("%d %q: %v", status, text, err)
		}
		all := map[string]int{}
		for name, is := range sizes {
			if is.Free <= 0 || is.Free > is.Capacity {
				t.Errorf("%s: %d bytes of %d are free", name, is.Free, is.Capacity)
			}
			all[name] = is.Free
		}
		return all
	}
	before := free()
	s.expectLog("a client request body is buffered to a temporary file")
	const posted = 1 << 20
	s.wantCall("POST", "/configuration/general", `"`+strings.Repeat("x", posted)+`"`, http.StatusCreated, "")
	after := free()
	if taken := before["configuration_data"] - after["configuration_data"]; taken < posted || taken > 2*posted {
		t.Errorf("%d bytes took %d of configuration_data", posted, taken)
	}
	if before["certificate_data"] == 0 || before["certificate_data"] != after["certificate_data"] {
		t.Errorf("certificate_data: %d bytes were free, now %d", before["certificate_data"], after["certificate_data"])
	}
	s.wantCall("POST", "/configuration/dictionaries", "{}", http.StatusBadRequest, "Only GET requests are allowed!")
}
