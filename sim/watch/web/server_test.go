package web_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure/measuretest"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/watch"
	"windtunnel.dev/sim/watch/web"
)

// shown is a run that a server shows.
type shown struct {
	*web.Server
	run   *watch.Run
	dir   string
	ended atomic.Int32  // how often the run was ended
	end   chan struct{} // receives a value each time
}

func show(t testing.TB) *shown {
	t.Helper()
	s := &scenario.Scenario{Name: "reload-vs-dynamic", Spec: scenario.Spec{
		Summary: "What rolling updates cost clients.", Rounds: 2, Settle: 20 * time.Second,
		Subjects: []scenario.Subject{{Name: measuretest.Dynamic}, {Name: measuretest.Reload}},
		Traffic:  []scenario.Traffic{{Lane: "http"}, {Lane: "post"}},
		Timeline: []scenario.Step{{Churn: scenario.RollingUpdate, For: 12 * time.Second}},
	}}
	one := &shown{run: watch.Of(s), dir: t.TempDir(), end: make(chan struct{}, 10)}
	var err error
	one.Server, err = web.Listen(web.Options{
		Address: "127.0.0.1:0", Scenario: s, Run: one.run, Dir: one.dir, End: func() { one.ended.Add(1); one.end <- struct{}{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { one.Close(web.Result{Outcome: "passed"}) })
	return one
}

// written returns the events of a run in the order in which they are written. A request is written when
// it ends.
func written() []event.Event {
	events := measuretest.Log(1, 6*time.Second)
	ends := func(e event.Event) time.Duration {
		if e.Request == nil {
			return e.At
		}
		return e.At + e.Request.Lag + e.Request.Took
	}
	slices.SortStableFunc(events, func(a, b event.Event) int { return int(ends(a) - ends(b)) })
	return events
}

func (s *shown) see(events []event.Event) {
	for _, e := range events {
		s.run.See(e)
	}
}

// ask sends a request to a path below the page. Pairs of name and value become its header.
func (s *shown) ask(t *testing.T, method, path string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestRefusesOtherSites(t *testing.T) {
	t.Parallel()
	s := show(t)
	address, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	own := "http://" + address.Host
	for name, test := range map[string]struct {
		method, path string
		header       []string
		want         int
	}{
		"page":                      {"GET", "", nil, 200},
		"page by name":              {"GET", "", []string{"Host", "localhost:" + address.Port()}, 200},
		"page through a tunnel":     {"GET", "", []string{"Host", "localhost:8080"}, 200},
		"page over IPv6":            {"GET", "", []string{"Host", "[::1]:8080"}, 200},
		"page by another name":      {"GET", "", []string{"Host", "evil.example"}, 421},
		"rebound, with the port":    {"GET", "events", []string{"Host", "evil.example:" + address.Port()}, 421},
		"rebound, looks local":      {"GET", "", []string{"Host", "127.0.0.1.evil.example"}, 421},
		"rebound, ends the run":     {"POST", "end", []string{"Host", "evil.example", "Origin", "http://evil.example"}, 421},
		"other address":             {"GET", "", []string{"Host", "192.0.2.1"}, 421},
		"events of another origin":  {"GET", "events", []string{"Origin", "http://evil.example"}, 403},
		"end by another origin":     {"POST", "end", []string{"Origin", "http://evil.example"}, 403},
		"end by another port":       {"POST", "end", []string{"Origin", "http://127.0.0.1:1"}, 403},
		"end by an opaque origin":   {"POST", "end", []string{"Origin", "null"}, 403},
		"end by another site":       {"POST", "end", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"end by the same host":      {"POST", "end", []string{"Sec-Fetch-Site", "same-site"}, 403},
		"without the secret":        {"GET", "../", nil, 404},
		"with another secret":       {"GET", "../" + strings.Repeat("A", 26) + "/", nil, 404},
		"end with another secret":   {"POST", "../" + strings.Repeat("A", 26) + "/end", []string{"Origin", own}, 404},
		"end by a link":             {"GET", "end", nil, 404},
		"end by something embedded": {"GET", "end", []string{"Sec-Fetch-Site", "cross-site"}, 404},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.ask(t, test.method, test.path, test.header...).StatusCode; got != test.want && !(test.want == 404 && got == 405) {
				t.Errorf("status %d, want %d", got, test.want)
			}
		})
	}
	if n := s.ended.Load(); n != 0 {
		t.Fatalf("the run was ended %d times", n)
	}
	if got := s.ask(t, "POST", "end", "Origin", own, "Sec-Fetch-Site", "same-origin").StatusCode; got != 202 || s.ended.Load() != 1 {
		t.Errorf("the page's own request: status %d, and the run was ended %d times", got, s.ended.Load())
	}
}

func TestRefusesAddresses(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for address, want := range map[string]string{
		"0.0.0.0:0":        "not a loopback address",
		":0":               "not a loopback address",
		"example.com:0":    "not a loopback address",
		"127.0.0.1":        "missing port",
		"localhost:100000": "invalid port",

		other.Addr().String(): "in use by another process: choose another port",
	} {
		s, err := web.Listen(web.Options{Address: address, Scenario: &scenario.Scenario{}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
		if s != nil {
			s.Close(web.Result{})
		}
	}
}

// message is the part of an update that the tests read.
type message struct {
	Status struct {
		Stage string
		Waits string
	}
	Subjects []struct {
		Name     string
		Bins     []struct{ At, Requests int }
		Reloads  []any
		Curves   []any
		Failures []any
		Log      []string
	}
	Result *web.Result
}

// updates opens a stream of events, and returns a function that reads the next one.
func (s *shown) updates(t *testing.T) func() message {
	t.Helper()
	lines := bufio.NewReader(s.ask(t, "GET", "events").Body)
	return func() (m message) {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if text, ok := strings.CutPrefix(line, "data: "); ok {
				if err := json.Unmarshal([]byte(text), &m); err != nil {
					t.Fatal(err)
				}
				return m
			}
		}
	}
}

// A browser gets the whole state when it connects, then the changes, and finally the result.
func TestStreamsTheRun(t *testing.T) {
	t.Parallel()
	s := show(t)
	s.writeLog(t, measuretest.Reload, "one\ntwo\x1b[31m\nthr")
	events := written()
	half := len(events) / 3
	s.see(events[:half])
	next := s.updates(t)
	first := next()
	if first.Status.Stage != "changing" || len(first.Subjects) != 2 || len(first.Subjects[1].Bins) == 0 {
		t.Fatalf("the first update: %+v", first.Status)
	}
	if got := first.Subjects[1].Log; !slices.Equal(got, []string{"one", "two [31m"}) {
		t.Errorf("log %q", got)
	}
	s.writeLog(t, measuretest.Reload, "ee\n")
	s.see(events[half:])
	bins, log2 := 0, []string{}
	failures := len(first.Subjects[1].Failures)
	for bins == 0 || len(log2) == 0 { // one update may come before the events
		m := next()
		bins += len(m.Subjects[0].Bins)
		log2 = append(log2, m.Subjects[1].Log...)
		failures += len(m.Subjects[1].Failures)
	}
	if !slices.Equal(log2, []string{"three"}) {
		t.Errorf("then the log %q", log2)
	}
	whole := s.updates(t)()
	if all := len(whole.Subjects[0].Bins); bins >= all {
		t.Errorf("%d bins after the first update, of %d: they were sent again", bins, all)
	}
	if all := len(whole.Subjects[1].Failures); failures != all || all == 0 {
		t.Errorf("%d failures in parts, %d at once", failures, all)
	}

	go s.Close(web.Result{Outcome: "failed", Note: "one expectation", Report: "x/report.html"})
	for {
		if m := next(); m.Result != nil {
			if *m.Result != (web.Result{Outcome: "failed", Note: "one expectation", Report: "x/report.html"}) {
				t.Errorf("result %+v", m.Result)
			}
			return
		}
	}
}

// A browser that reads nothing does not delay the run, and delays the end of the server only briefly.
func TestSlowBrowserDelaysNothing(t *testing.T) {
	t.Parallel()
	s := show(t)
	s.writeLog(t, measuretest.Reload, strings.Repeat(strings.Repeat("x", 900)+"\n", 300))
	address, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		slow, err := net.Dial("tcp", address.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer slow.Close()
		if err := slow.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(slow, "GET %sevents HTTP/1.1\r\nHost: %s\r\n\r\n", address.Path, address.Host)
		if _, err := slow.Read(make([]byte, 1)); err != nil { // the answer begins, and nobody reads it
			t.Fatal(err)
		}
	}
	s.see(written())
	s.Close(web.Result{Outcome: "passed"})
	if _, err := http.Get(s.URL()); err == nil {
		t.Error("the server still answers")
	}
}

// writeLog appends to the log of a subject's controller.
func (s *shown) writeLog(t *testing.T, subject, text string) {
	t.Helper()
	dir := filepath.Join(s.dir, subject)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(dir, "controller.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// A browser gets the latest lines of a log that has grown much.
func TestLongLog(t *testing.T) {
	t.Parallel()
	s := show(t)
	s.writeLog(t, measuretest.Reload, strings.Repeat("old\n", 1<<20)+strings.Repeat("y", 5000)+"\nlast\n")
	lines := s.updates(t)().Subjects[1].Log
	if len(lines) < 100 || len(lines) > 500 || lines[len(lines)-1] != "last" {
		t.Errorf("%d lines, want a few hundred up to the last one", len(lines))
	}
	if long := lines[len(lines)-2]; len(long) > 1100 || !strings.HasSuffix(long, "…") {
		t.Errorf("a long line has %d bytes", len(long))
	}
}
