package kubeapi

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// logged collects the log of a server.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// loud returns a server and its log.
func loud(t *testing.T) (*Server, *logged) {
	t.Helper()
	out := &logged{}
	s := startWith(t, Options{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", Anonymous: true, Log: slog.New(slog.NewTextHandler(out, nil))})
	return s, out
}

// On some patches the libraries, which kube-apiserver uses as well, panic. The server answers with
// a client error, logs the panic, and goes on.
func TestPatchesThatPanic(t *testing.T) {
	s, log := loud(t)
	w := wire{t, s.URL()}
	w.mustCreate(cmPath, `{"metadata":{"name":"a","finalizers":["example.com/a"]}}`)
	w.mustCreate(ingPath, ingressWith(`{"path":"/","pathType":"Prefix",`+backend+`}`))
	w.mustCreate(svcPath, `{"metadata":{"name":"s"},"spec":{"ports":[{"port":1}]}}`)
	before := everything(s)
	for _, test := range []struct {
		path, contentType, body string
		code                    int
	}{
		{cmPath + "/a", "application/json-patch+json", `[{"op":"test","path":"/metadata/finalizers","value":[null]}]`, 422},
		{ingPath + "/x", "application/strategic-merge-patch+json", `{"spec":{"$setElementOrder/rules":[1]}}`, 400},
		{cmPath + "/a", "application/strategic-merge-patch+json", `{"$retainKeys":[[]]}`, 400},
		{svcPath + "/s", "application/strategic-merge-patch+json", `{"spec":{"ports":[{"$retainKeys":[[]],"port":1}]}}`, 400},
		{svcPath + "/s", "application/strategic-merge-patch+json", `{"spec":{"$setElementOrder/ports":[1]}}`, 400},
		{svcPath + "/s", "application/strategic-merge-patch+json", `{"spec":{"$setElementOrder/ports":[[]],"ports":[]}}`, 400},
		{svcPath + "/s", "application/strategic-merge-patch+json", `{"spec":{"$retainKeys":[{}]}}`, 400},
	} {
		code, status := w.answer(w.send("PATCH", test.path, test.contentType, test.body))
		if code != test.code || text(status, "kind") != "Status" || text(status, "message") == "" {
			t.Errorf("%s: %d %v", test.body, code, status.Object)
		}
	}
	unharmed(t, httptest.NewRequest("PATCH", "/", nil), 400, before, everything(s))
	if said := log.String(); !strings.Contains(said, "panic while serving") || !strings.Contains(said, "json-patch") {
		t.Errorf("the log lacks the panic: %q", said)
	}
}

// A panic in the server's own code is a 500 before the answer has begun, and an aborted answer
// afterwards, over both protocols. The log has the stack.
func TestPanicsAreAnsweredAndLogged(t *testing.T) {
	out := &logged{}
	s := &Server{log: slog.New(slog.NewTextHandler(out, nil))}
	mux := http.NewServeMux()
	mux.HandleFunc("/before", func(http.ResponseWriter, *http.Request) { panic("early") })
	mux.HandleFunc("/after", func(w http.ResponseWriter, _ *http.Request) {
		writeHead(w, "application/json", http.StatusOK)
		io.WriteString(w, "{")
		http.NewResponseController(w).Flush()
		panic(errors.New("late"))
	})
	for _, h2 := range []bool{false, true} {
		server := httptest.NewUnstartedServer(s.withRecovery(mux))
		server.EnableHTTP2 = h2
		server.StartTLS()
		defer server.Close()
		resp, err := server.Client().Get(server.URL + "/before")
		if err != nil {
			t.Fatal(err)
		}
		code, status := wire{T: t}.answer(resp)
		if code != http.StatusInternalServerError || text(status, "reason") != "InternalError" {
			t.Errorf("%s: %d %v", resp.Proto, code, status.Object)
		}
		resp, err = server.Client().Get(server.URL + "/after")
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err == nil {
			t.Errorf("%s: the response %s looks complete", resp.Proto, body)
		}
		resp.Body.Close()
	}
	for _, want := range []string{"early", "late", "GET /before", "panic_test.go"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log lacks %q: %s", want, out)
		}
	}
}
