package pool

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/backend"
)

func startScripted(t *testing.T, f *Fleet, name string, s backend.Script) backend.Pod {
	t.Helper()
	p, err := f.StartScripted(name, "demo/web", s)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	return p
}

// get asks a pod and returns the answer, its body and the number of its record.
func get(t *testing.T, p backend.Pod, path string) (*http.Response, string, int) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + p.Addr().String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(response.Header.Get(backend.RequestHeader))
	if err != nil {
		t.Error(err)
	}
	return response, string(text), number
}

// allDone waits until the fleet has n records that are done, and returns all.
func allDone(t *testing.T, f *Fleet, n int) (all []backend.Received) {
	t.Helper()
	until(t, func() bool {
		var err error
		if all, err = f.Received(0); err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, r := range all {
			if r.Done {
				done++
			}
		}
		return done == n
	})
	return all
}

// paths returns SEQ POD PATH of each record.
func paths(all []backend.Received) []string {
	var texts []string
	for _, r := range all {
		texts = append(texts, fmt.Sprint(r.Seq, " ", r.Pod, " ", r.Path))
	}
	return texts
}

// Pods in real pods follow scripts, and their fleet has what they receive, also when they are gone
// and their process runs another pod.
func TestScriptsAndRecords(t *testing.T) {
	for _, way := range []string{"direct", "through the API server"} {
		t.Run(way, func(t *testing.T) {
			r := newRig(t, 2)
			r.options.Rest = time.Nanosecond
			if way != "direct" {
				r.behindProxy(t)
			}
			f := r.open(t)
			f.Record(100)
			one := startScripted(t, f, "demo/one", backend.Script{Answer: backend.Answer{Status: 418, Body: []byte("\xfftea")}})
			two := startScripted(t, f, "demo/two", backend.Script{})
			numbers := map[int]string{}
			for _, path := range []string{"/a?x=%20", "/b"} {
				response, text, number := get(t, one, path)
				if response.StatusCode != 418 || text != "\xfftea" {
					t.Errorf("%d %q", response.StatusCode, text)
				}
				numbers[number] = path
				_, text, number = get(t, two, path)
				if !strings.Contains(text, `"path":"`+path+`"`) {
					t.Errorf("%q", text)
				}
				numbers[number] = path
			}
			all := allDone(t, f, 4)
			if diff := cmp.Diff([]string{"1 demo/one /a?x=%20", "2 demo/two /a?x=%20", "3 demo/one /b", "4 demo/two /b"}, paths(all)); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			for _, record := range all {
				if numbers[record.Number] != record.Path {
					t.Errorf("%d is %s", record.Number, record.Path)
				}
			}
			get(t, one, "/last")
			one.Gone()
			three := startScripted(t, f, "demo/three", backend.Script{})
			get(t, three, "/c")
			allDone(t, f, 6)
			late, err := f.Received(4)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"5 demo/one /last", "6 demo/three /c"}, paths(late)); diff != "" {
				t.Errorf("later records (-want +got):\n%s", diff)
			}
		})
	}
}

// A record that was fetched while its request was arriving changes in its place.
func TestRecordsAreCompleted(t *testing.T) {
	f := newRig(t, 1).open(t)
	f.Record(100)
	p := startScripted(t, f, "demo/a", backend.Script{})
	body, more := io.Pipe()
	asked := make(chan error, 1)
	go func() {
		response, err := http.Post("http://"+p.Addr().String()+"/slow", "text/plain", body)
		if err == nil {
			response.Body.Close()
		}
		asked <- err
	}()
	more.Write([]byte("ab"))
	until(t, func() bool {
		all, err := f.Received(0)
		return err == nil && len(all) == 1 && string(all[0].Body) == "ab" && !all[0].Done
	})
	get(t, p, "/quick")
	if all, err := f.Received(0); err != nil || len(all) != 2 {
		t.Errorf("%v, %v", paths(all), err)
	}
	more.Write([]byte("c"))
	more.Close()
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
	all := allDone(t, f, 2)
	if diff := cmp.Diff([]string{"1 demo/a /slow", "2 demo/a /quick"}, paths(all)); diff != "" || string(all[0].Body) != "abc" || !all[0].Complete {
		t.Errorf("%+v\n%s", all[0], diff)
	}
}

// Large bodies come in several batches, and a fleet keeps as many records as it was told.
func TestManyRecords(t *testing.T) {
	f := newRig(t, 1).open(t)
	f.Record(7)
	p := startScripted(t, f, "demo/a", backend.Script{})
	for range 9 {
		response, err := http.Post("http://"+p.Addr().String(), "text/plain", strings.NewReader(strings.Repeat("x", backend.MaxBody)))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	all := allDone(t, f, 7)
	for i, r := range all {
		if len(r.Body) != backend.MaxBody || r.Seq != i+1 || r.Number != i+3 {
			t.Errorf("record %d: number %d, %d bytes", r.Seq, r.Number, len(r.Body))
		}
	}
	get(t, p, "/one-more")
	if all := allDone(t, f, 7); all[0].Number != 4 || all[6].Path != "/one-more" || all[6].Seq != 8 {
		t.Errorf("%d to %d %s", all[0].Number, all[6].Seq, all[6].Path)
	}
}

// A fleet keeps the records that it has fetched, even if one of its processes is gone.
func TestRecordsWithoutAProcess(t *testing.T) {
	r := newRig(t, 2)
	f := r.open(t)
	f.Record(9)
	one, two := startScripted(t, f, "demo/a", backend.Script{}), startScripted(t, f, "demo/b", backend.Script{})
	get(t, one, "/a")
	get(t, two, "/b")
	r.processes[0].CloseClientConnections()
	r.processes[0].Close()
	all, err := f.Received(0)
	if err == nil || !strings.Contains(err.Error(), "send received to pod real-0 of the pool") || len(all) != 1 {
		t.Errorf("%v, %v", paths(all), err)
	}
}

func TestAWrongScript(t *testing.T) {
	r := newRig(t, 1)
	f := r.open(t)
	if _, err := f.StartScripted("demo/a", "demo/web", backend.Script{Protocol: "smtp"}); err == nil || !strings.Contains(err.Error(), "no pod speaks") {
		t.Error(err)
	}
	if p := startScripted(t, f, "demo/a", backend.Script{}); p.State() != backend.Ready { // the name and the process are free
		t.Error(p.State())
	}
}

// Only the owner of a process reads what its pod has received, and only with the token.
func TestRecordsAreTheOwners(t *testing.T) {
	r := newRig(t, 1)
	f := r.open(t)
	f.Record(9)
	p := startScripted(t, f, "demo/a", backend.Script{})
	get(t, p, "/")
	for want, q := range map[int]struct{ token, owner string }{
		http.StatusOK:        {token, f.reach.owner},
		http.StatusConflict:  {token, "another"},
		http.StatusForbidden: {"wrong", f.reach.owner},
	} {
		text, _ := json.Marshal(order{Owner: q.owner, Name: "demo/a"})
		request, err := http.NewRequest(http.MethodPost, r.processes[0].URL+"/pod/received", strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(TokenHeader, q.token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%+v: %d, want %d", q, response.StatusCode, want)
		}
	}
}

// A process refuses a script that is not valid, and runs no pod.
func TestAProcessRefusesAWrongScript(t *testing.T) {
	s := &Server{Token: token}
	for body, want := range map[string]int{
		`{"owner":"me","name":"demo/a","lease":1000000000,"script":{"protocol":"smtp"}}`: http.StatusConflict,
		`{"owner":"me","name":"demo/a","lease":1000000000,"script":{"rules":"x"}}`:       http.StatusBadRequest,
	} {
		q := httptest.NewRequest(http.MethodPost, "/pod/claim", strings.NewReader(body))
		q.Header.Set(TokenHeader, token)
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, q)
		if w.Code != want || s.pod != nil {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}
