package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/kubeapi/load"
)

// play plays stories on two simulated servers. middle can change the responses of the second.
func play(t *testing.T, stories []story, middle func(*http.Response) error) (*findings, []outcome) {
	t.Helper()
	ours, stopOurs, err := startOurs(realVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer stopOurs()
	other, stopOther, err := startOurs(realVersion)
	if err != nil {
		t.Fatal(err)
	}
	defer stopOther()
	target, _ := url.Parse(other.url)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ModifyResponse: middle, FlushInterval: -1}
	front := httptest.NewServer(proxy)
	defer front.Close()
	other.url, other.name = front.URL, "other"
	hook := startHook()
	defer hook.close()
	// Each server has its own addresses of webhooks.
	addresses, err := parseAllowances([]byte(`[{path: "*clientConfig.url", reason: test}]`))
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{ours: ours, real: other, hook: hook, findings: &findings{allowances: addresses}}
	var outcomes []outcome
	for _, s := range stories {
		out, err := r.play(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, out)
	}
	return r.findings, outcomes
}

func nothing(*http.Response) error { return nil }

// Two simulated servers do not differ, although they choose different UIDs, versions, names and
// addresses.
func TestOursAgainstOurs(t *testing.T) {
	stories, err := readStories(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		stories = append(stories, generate(seed, 30))
	}
	found, outcomes := play(t, stories, nothing)
	for _, f := range found.unlisted {
		if f.Path == "body.serverAddressByClientCIDRs[].serverAddress" { // the address of the proxy
			continue
		}
		t.Errorf("story %s: %s\n%s\n%s\n%s", f.Story, f.signature(), f.Request, f.Ours, f.Real)
	}
	events := 0
	for _, o := range outcomes {
		events += o.events
	}
	if events == 0 {
		t.Error("no watch event was compared")
	}
}

// Errors of a server are found, in responses and in streams.
func TestDifferencesAreFound(t *testing.T) {
	stories, err := readStories(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	lie := func(resp *http.Response) error {
		if resp.Request.URL.Query().Get("watch") != "" {
			pipe, w := io.Pipe()
			body := resp.Body
			go func() {
				buf := make([]byte, 1<<20)
				for {
					n, err := body.Read(buf)
					w.Write(bytes.ReplaceAll(buf[:n], []byte(`"MODIFIED"`), []byte(`"ADDED"`)))
					if err != nil {
						w.CloseWithError(err)
						return
					}
				}
			}()
			resp.Body = pipe
			return nil
		}
		if resp.StatusCode == http.StatusConflict {
			resp.StatusCode = http.StatusTeapot
		}
		return nil
	}
	found, _ := play(t, stories, lie)
	var stream, status bool
	for _, f := range found.unlisted {
		stream = stream || (strings.HasPrefix(f.Where, "WATCH") && f.Path == "events[].type")
		status = status || (f.Path == "status code" && strings.HasPrefix(f.Real, "418"))
	}
	if !stream || !status {
		t.Errorf("found wrong event types: %v, wrong status codes: %v; want both", stream, status)
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	if a, b := generate(7, 100), generate(7, 100); !reflect.DeepEqual(a, b) {
		t.Error("the same seed gave different stories")
	}
	if a, b := generate(7, 100), generate(8, 100); reflect.DeepEqual(a.steps, b.steps) {
		t.Error("two seeds gave the same story")
	}
}

func TestParseStory(t *testing.T) {
	s, err := parseStory("x", []byte("About it.\n-- PATCH /api/v1/a as b --\nContent-Type: text/plain\n\nkind: X\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := story{name: "x", about: "About it.", steps: []step{{
		verb: "PATCH", target: "/api/v1/a", save: "b", header: http.Header{"Content-Type": {"text/plain"}}, body: "kind: X\n"}}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %#v\nwant %#v", s, want)
	}
	for _, bad := range []string{"", "-- STARE /x --\n", "-- GET x --\n"} {
		if _, err := parseStory("x", []byte(bad)); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

// A version that only one server returned is a difference in its own place only.
func TestNormaliseDoesNotCascade(t *testing.T) {
	docs := func(versions ...int) []any {
		var all []any
		for i, v := range versions {
			all = append(all, map[string]any{"metadata": map[string]any{"name": fmt.Sprint(i), "resourceVersion": fmt.Sprint(v)}})
		}
		return all
	}
	a, b := normalise(docs(10, 20, 30), docs(100, 100, 300), false)
	var paths []string
	diff("", any(a), any(b), func(path, _, _ string) { paths = append(paths, path) })
	if len(paths) != 1 || reflect.DeepEqual(a[1], b[1]) || !reflect.DeepEqual(a[2], b[2]) {
		t.Errorf("differences at %v in\n%v\n%v", paths, a, b)
	}
}

func TestAllowances(t *testing.T) {
	list, err := parseAllowances([]byte("- {where: 'GET *', path: 'body.*', reason: why}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		d    difference
		want bool
	}{
		{difference{Where: "GET pods", Path: "body.a"}, true},
		{difference{Where: "PUT pods", Path: "body.a"}, false},
		{difference{Where: "GET pods", Path: "status code"}, false},
	} {
		if got := list[0].allows(c.d); got != c.want {
			t.Errorf("%+v: allowed %v, want %v", c.d, got, c.want)
		}
	}
	for _, bad := range []string{"- {path: x}", "- {reason: x}", "- {path: x, reason: y, odd: z}"} {
		if _, err := parseAllowances([]byte(bad)); err == nil {
			t.Errorf("no error for %s", bad)
		}
	}
}

func FuzzParseStory(f *testing.F) {
	f.Add([]byte("-- GET /x as y --\nA: b\n\nbody\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseStory("x", text)
		if err == nil && len(s.steps) == 0 {
			t.Error("a story without steps")
		}
	})
}

func TestBenchTable(t *testing.T) {
	ours, real, echo := &server{name: "ours"}, &server{name: nameOfReal}, &server{name: "echo", stateless: true}
	contenders := []contender{{ours, true}, {real, true}, {echo, false}, {ours, false}}
	writes := []int64{3000, 100, 8000, 4000}
	r := results{}
	for range 2 {
		for _, workload := range workloads {
			for _, mediaType := range []string{load.JSON, load.Protobuf} {
				for i, c := range contenders {
					m := measurement{writes: writes[i], took: time.Second, cpu: 600 * time.Millisecond, clientCPU: 60 * time.Millisecond}
					if c.informed {
						m.events = 90
					}
					r.add(resultsOf{workload.name, mediaType, c}, m)
				}
			}
		}
	}
	var table strings.Builder
	if err := r.write(&table, contenders); err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(table.String(), "CPU\n")
	lines := strings.Split(strings.TrimSpace(rows), "\n")
	want := []string{
		"update slices 16 application/json ours 1 3000 90 200 20 30.00 30.00",
		"update slices 16 application/json real 1 100 90 6000 600 1.00 1.00",
		"update slices 16 application/json echo 0 8000 0 75 8 80.00 80.00 1.00 1.00",
		"update slices 16 application/json ours 0 4000 0 150 15 40.00 40.00 0.50 0.50",
	}
	if len(lines) != len(workloads)*2*len(contenders) {
		t.Fatalf("%d rows in\n%s", len(lines), table.String())
	}
	for i, row := range want {
		if got := strings.Join(strings.Fields(lines[i]), " "); got != row {
			t.Errorf("row %d is %q, want %q in\n%s", i, got, row, table.String())
		}
	}
}
