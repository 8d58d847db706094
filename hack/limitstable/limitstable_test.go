package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/subject"
)

func TestFit(t *testing.T) {
	base, slope, ok := fit([]float64{1, 2, 3}, []float64{5, 7, 9})
	if !ok || base != 3 || slope != 2 {
		t.Errorf("%v + %v x, %t", base, slope, ok)
	}
	if _, _, ok := fit([]float64{1, 1}, []float64{5, 7}); ok {
		t.Error("a line through points with one x")
	}
}

func TestNumber(t *testing.T) {
	for _, test := range []struct {
		value    float64
		computed bool
		want     string
	}{{1234567, false, "1,234,567"}, {1234567, true, "1,230,000"}, {12, true, "12"}, {999, false, "999"}, {0, true, "0"}} {
		if got := number(test.value, test.computed); got != test.want {
			t.Errorf("%v: %s, want %s", test.value, got, test.want)
		}
	}
}

func TestSizeOfADictionary(t *testing.T) {
	for value, want := range map[string]float64{
		"configuration_data: 32k": 32 << 10, "a: 1, configuration_data: 2M": 2 << 20, "configuration_data:3": 3 << 20,
	} {
		if got, err := sizeIn(value, "configuration_data"); err != nil || got != want {
			t.Errorf("%s: %v, %v", value, got, err)
		}
	}
	if _, err := sizeIn("my_configuration_data: 32k", "configuration_data"); err == nil {
		t.Error("no error for a value without the dictionary")
	}
}

// A line of a log is shown without the parts that differ from run to run.
func TestPlain(t *testing.T) {
	for line, want := range map[string]string{
		`2026/11/25 19:00:00 [alert] 17#17: *3 4 worker_connections are not enough, client: 127.0.0.1, server: a`: "[alert] 4 worker_connections are not enough",
		`2026/11/25 19:00:00 [warn] 7#7: *2 [lua] ewma.lua:65: store(): full, context: ngx.timer`:                 "[warn] [lua] ewma.lua:65: store(): full",
		`2026/11/25 19:00:00 [crit] 17#17: accept4() failed (24: Too many open files)`:                            "[crit] accept4() failed (24: Too many open files)",
		`{"time":"x","level":"WARN","msg":"finding","what":"ConfigMap a/b: full"}`:                                "finding: ConfigMap a/b: full",
	} {
		if got := plain(line); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A POST that nginx refused for another reason counts as below the limit.
func TestBackendsRefused(t *testing.T) {
	sync := func(failed string, posted int) event.Event {
		s := &event.Sync{Error: failed}
		if posted > 0 {
			s.Posts = []event.Post{{Path: backendsPath, Bytes: posted}}
		}
		return event.Event{Sync: s}
	}
	r := run{events: []event.Event{
		sync("", 100), sync("", 200), sync("sending 300 bytes to /configuration/backends: nginx answered 400 Bad Request instead of 201: no memory", 0),
		sync("sending 900 bytes to /configuration/backends: nginx answered 413 Request Entity Too Large instead of 201", 0), sync("", 150),
	}}
	for reason, want := range map[string]end{"no memory": {good: 200, bad: 300}, "413 ": {good: 300, bad: 900}, "403 ": {good: 900}} {
		got, _, err := backendsRefused(reason)(r)
		if err != nil || got.good != want.good || got.bad != want.bad {
			t.Errorf("%s: %+v, %v, want %+v", reason, got, err, want)
		}
	}
}

// Websockets that have ended, or start later, do not count as open at the first failure. Those that
// get no message fail; those that had only just started at the end do not.
func TestWebsockets(t *testing.T) {
	one := func(at, took time.Duration, cause event.Cause) event.Event {
		return event.Event{At: at, Request: &event.Request{Lane: "websocket", Took: took, Cause: cause, Messages: 1}}
	}
	silent := func(at, took time.Duration) event.Event {
		return event.Event{At: at, Request: &event.Request{Lane: "websocket", Took: took, Cause: event.OurCancel}}
	}
	r := run{events: []event.Event{
		one(1, 100, event.OurCancel), one(2, 100, ""), one(3, 2, ""), one(10, 1, event.NginxError), one(9, 1, event.EOF), one(11, 5, ""),
	}}
	got, _, err := websockets("x")(r)
	if err != nil || got.good != 2 || got.bad != 3 || !strings.Contains(got.client, "first with eof") {
		t.Errorf("%+v, %v", got, err)
	}
	r.events = append(r.events, silent(8, time.Minute), silent(20, time.Second))
	got, _, err = websockets("x")(r)
	if err != nil || got.good != 2 || !strings.Contains(got.client, "first by waiting in vain; in all 1 wait in vain") {
		t.Errorf("with one that waits in vain: %+v, %v", got, err)
	}
}

// Hosts that present another certificate were evicted from the dictionary.
func TestEvicted(t *testing.T) {
	one := func(host string, cause event.Cause) event.Event {
		return event.Event{Request: &event.Request{Lane: "tls", Host: host, Cause: cause}}
	}
	r := run{events: []event.Event{one("a", ""), one("b", event.WrongCert), one("b", event.WrongCert), one("c", ""), one("d", event.OurCancel)}}
	if got, _, err := evicted("x")(r); err != nil || got.good != 2 || got.bad != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The time of nginx's warning bounds the number of endpoints to within a second and a worker's poll.
func TestScored(t *testing.T) {
	r := run{dir: t.TempDir(), start: time.Date(2026, 11, 25, 19, 0, 0, 0, time.Local)}
	for second := range 10 {
		r.events = append(r.events, event.Event{At: time.Duration(second)*time.Second + time.Millisecond, Pod: &event.Pod{State: "ready"}})
	}
	if got, _, err := scored(r); err != nil || got.good != 10 || got.bad != 0 {
		t.Errorf("without a warning: %+v, %v", got, err)
	}
	line := "2026/11/25 19:00:05 [warn] 7#7: *1 [lua] ewma.lua:46: store(): balancer_ewma_last_touched_at:set valid items forcibly overwritten\n"
	if err := os.WriteFile(filepath.Join(r.dir, nginxLog), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, _, err := scored(r); err != nil || got.good != 3 || got.bad != 6 {
		t.Errorf("with a warning in second 5: %+v, %v", got, err)
	}
}

// The limit lies between the ingresses that are stored and those that are refused.
func TestReviewed(t *testing.T) {
	written := func(value, failed string) run {
		return run{value: value, dir: t.TempDir(), events: []event.Event{{Written: &event.Written{Error: failed}}}}
	}
	f, err := reviewed([]run{written("10", ""), written("4999", ""), written("6000", "denied"), written("5000", "more than 5000")})
	if err != nil || f.ends != "5,000 paths; 5,001 are refused" || !strings.Contains(f.client, "more than 5000") {
		t.Errorf("%+v, %v", f, err)
	}
}

// A sync that raises the size of the hash table is not a failure to build it.
func TestHashed(t *testing.T) {
	r := run{value: "1000", dir: t.TempDir()}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("nginx.conf", "http {\n  server_names_hash_max_size 4096;\n  server_names_hash_bucket_size 64;\n}\n")
	write(subject.LogName, `{"msg":"sync","why":["server_names_hash_max_size 2048; -> server_names_hash_max_size 4096;"]}`+"\n")
	if f, err := hashed([]run{r}); err != nil || f.said != none || !strings.Contains(f.ends, "not reached") {
		t.Errorf("a larger table: %+v, %v", f, err)
	}
	write(nginxLog, "2026/11/25 19:00:05 [warn] 7#7: could not build optimal server_names_hash, you should increase either server_names_hash_max_size: 512 or server_names_hash_bucket_size: 64; ignoring server_names_hash_bucket_size\n")
	if f, err := hashed([]run{r}); err != nil || !strings.Contains(f.said, "could not build") || f.ends != "1000" {
		t.Errorf("a warning: %+v, %v", f, err)
	}
}

// A run whose writes the webhook denies is void, but still shows the limit.
func TestOnlyDenied(t *testing.T) {
	denial := `writing Ingress demo/a: admission webhook "validate.nginx.ingress.kubernetes.io" denied the request: more than 5000 rules or paths`
	for name, test := range map[string]struct {
		errors, invalid []string
		want            bool
	}{
		"denied":           {[]string{denial, ""}, []string{"the API refused 1 change"}, true},
		"another error":    {[]string{denial, "writing Ingress demo/a: quota"}, []string{"the API refused 2 changes"}, false},
		"void in addition": {[]string{denial}, []string{"the API refused 1 change", "no worker was observed"}, false},
		"no error":         {nil, []string{"no worker was observed"}, false},
	} {
		r := run{result: measure.Subject{Invalid: test.invalid}}
		for _, text := range test.errors {
			r.events = append(r.events, event.Event{Written: &event.Written{Error: text}})
		}
		if got := r.onlyDenied(); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
