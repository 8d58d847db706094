package behave_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/behave"
)

// pair is an expectation, with exchanges that fulfil it and others that do not.
type pair struct {
	field    string // of a Go type
	expect   string // in YAML
	pass     []behave.Exchange
	fail     []behave.Exchange
	failures []string // without the place and the request, which are the same in all failures
}

func one(e behave.Exchange) []behave.Exchange { return []behave.Exchange{e} }

func header(lines ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(lines); i += 2 {
		h.Add(lines[i], lines[i+1])
	}
	return h
}

func answer(status int) []behave.Exchange { return one(behave.Exchange{Status: status}) }

func headers(lines ...string) []behave.Exchange {
	return one(behave.Exchange{Header: header(lines...)})
}

func bodies(text string) []behave.Exchange { return one(behave.Exchange{Body: []byte(text)}) }

func sets(cookie string) []behave.Exchange { return headers("Set-Cookie", cookie) }

// from returns the answers of pods, given as SERVICE/POD.
func from(names ...string) []behave.Exchange {
	var all []behave.Exchange
	for _, name := range names {
		service, pod, _ := strings.Cut(name, "/")
		all = append(all, behave.Exchange{Received: []behave.Reception{{Service: service, Pod: pod, Answered: true}}})
	}
	return all
}

// times repeats the answer of a pod.
func times(n int, name string) []behave.Exchange {
	return from(strings.Split(strings.Repeat(name+" ", n), " ")[:n]...)
}

func saw(r behave.Reception) []behave.Exchange {
	r.Service, r.Answered = "web", true
	return one(behave.Exchange{Received: []behave.Reception{r}})
}

func asked(services ...string) []behave.Exchange {
	var e behave.Exchange
	for _, service := range services {
		e.Received = append(e.Received, behave.Reception{Service: service, Path: "/verify"})
	}
	return one(e)
}

func session(s behave.Session) []behave.Exchange { return one(behave.Exchange{TLS: &s}) }

func sessions(all ...behave.Session) []behave.Exchange {
	var exchanges []behave.Exchange
	for _, s := range all {
		exchanges = append(exchanges, session(s)...)
	}
	return exchanges
}

func took(d time.Duration) []behave.Exchange { return one(behave.Exchange{Took: d}) }

var pairs = []pair{
	{"Expect.Status", "{status: 200}", answer(200), answer(404), []string{"status is 404, want 200"}},
	{"Expect.Status", "{status: [200, 204]}", answer(204), answer(500), []string{"status is 500, want 200 or 204"}},
	{"Expect.Status", "{status: 200}", answer(200), one(behave.Exchange{Failure: "reset", Detail: "read: connection reset by peer"}),
		[]string{"answer is missing, reset (read: connection reset by peer), want one"}},
	{"Expect.Headers", "{headers: {location: https://a.example/}}", headers("Location", "https://a.example/"), headers("Location", "http://a.example/"),
		[]string{`header location is "http://a.example/", want "https://a.example/"`}},
	{"Expect.OtherHeaders", "{headers: {Vary: Origin}, other-headers: [x-b]}", headers("Vary", "Origin", "X-B", "1", "Date", "now", "X-Windtunnel-Pod", "demo/web-1"), headers("Vary", "Origin", "X-C", "1"),
		[]string{`header X-C is "1", want absent`}},
	{"Expect.OtherHeaders", "{other-headers: []}", headers(), headers("X-C", "1", "X-C", "2"), []string{`header X-C is "1" and "2", want absent`}},
	{"Expect.Headers", "{headers: {Location: null}}", headers(), headers("Location", "/x"), []string{`header Location is "/x", want absent`}},
	{"Expect.Headers", "{headers: {Vary: Origin}}", headers("Vary", "Origin"), headers("Vary", "Origin", "Vary", "Accept"),
		[]string{`header Vary is "Origin" and "Accept", want "Origin"`}},
	{"Expect.Body", "{body: hello}", bodies("hello"), bodies(""), []string{`body is absent, want "hello"`}},
	{"Expect.Body", "{body: null}", bodies(""), bodies("hello"), []string{`body is "hello", want absent`}},
	{"Expect.Cookies", "{cookies: {route: {}}}", sets("route=1"), sets("other=1"), []string{"cookie route is absent, want set"}},
	{"Expect.Cookies", "{cookies: {route: null}}", sets("other=1"), sets("route=1; Path=/"), []string{`cookie route is "route=1; Path=/", want absent`}},
	{"Expect.Service", "{service: web}", from("web/1"), from("canary/1"), []string{"service is canary, want web"}},
	{"Expect.Service", "{service: none}", asked("web"), from("web/1"), []string{"service is web, want none"}},
	{"Expect.Pod", "{pod: {path: /}}", saw(behave.Reception{Path: "/"}), answer(200), []string{"pod that answered is none, want one"}},
	{"Expect.Received", "{received: {auth: [{path: /verify}]}}", asked("auth"), asked("auth", "auth"), []string{"number of requests at auth is 2, want 1"}},
	{"Expect.Received", "{received: {web: [], auth: []}}", saw(behave.Reception{}), asked("auth"), []string{"number of requests at auth is 1, want 0"}},
	{"Expect.Received", "{received: {auth: [{}, {path: /}]}}", one(behave.Exchange{Received: []behave.Reception{{Service: "auth"}, {Service: "auth", Path: "/"}}}), asked("auth", "auth"),
		[]string{`path of request 2 at auth is "/verify", want "/"`}},
	{"Expect.HTTP", "{http: 2}", one(behave.Exchange{Protocol: "HTTP/2.0"}), one(behave.Exchange{Protocol: "HTTP/1.1"}), []string{"version of HTTP is 1.1, want 2"}},
	{"Expect.MaxStreams", "{max-streams: 8}", one(behave.Exchange{MaxStreams: 8}), one(behave.Exchange{MaxStreams: 128}), []string{"number of requests at the same time is 128, want 8"}},
	{"Expect.TLS", "{tls: {version: 1.3}}", session(behave.Session{Version: "1.3"}), answer(200), []string{"TLS is absent, want it"}},
	{"Expect.Fails", "{fails: ended}", one(behave.Exchange{Failure: "closed"}), one(behave.Exchange{Failure: "refused"}), []string{"failure is refused, want ended"}},
	{"Expect.Fails", "{fails: ended}", one(behave.Exchange{Failure: "reset"}), answer(200), []string{"failure is none, but status 200, want ended"}},
	{"Expect.Fails", "{fails: reset}", one(behave.Exchange{Failure: "reset"}), answer(200), []string{"failure is none, but status 200, want reset"}},
	{"Expect.Fails", "{fails: reset}", one(behave.Exchange{Failure: "reset"}), one(behave.Exchange{Failure: "timeout", Detail: "after 10s"}), []string{"failure is timeout (after 10s), want reset"}},
	{"Expect.Took", "{took: {max: 1s}}", took(time.Second), took(1500 * time.Millisecond), []string{"time is 1.5s, want 1s at most"}},
	{"Expect.Took", "{took: {min: 1s, max: 3s}}", took(2 * time.Second), took(20 * time.Millisecond), []string{"time is 20ms, want 1s or more"}},
	{"Expect.Shares", "{shares: {web: 0.5, canary: 0.5}}", append(times(90, "web/1"), times(110, "canary/1")...), append(times(50, "web/1"), times(150, "canary/1")...),
		[]string{"share of canary is 0.75 (150 of 200), want 0.5", "share of web is 0.25 (50 of 200), want 0.5"}},
	{"Expect.Shares", "{shares: {web: 1, canary: 0}}", times(200, "web/1"), append(times(199, "web/1"), answer(503)...),
		[]string{"share of web is 0.995 (199 of 200), want 1", "share of none is 0.005 (1 of 200), want 0"}},
	{"Expect.Statuses", "{statuses: {503: {min: 1, max: 2}, 200: {min: 1}}}", append(answer(503), answer(200)...), append(answer(503), append(answer(503), answer(503)...)...),
		[]string{"number of answers with status 200 is 0, want 1 or more", "number of answers with status 503 is 3, want 1 to 2"}},
	{"Expect.Statuses", "{statuses: {503: {max: 1}, 200: 1}}", append(answer(503), answer(200)...), append(answer(503), append(answer(503), answer(200)...)...),
		[]string{"number of answers with status 503 is 2, want 1 at most"}},
	{"Expect.SamePod", "{same-pod: true}", from("web/1", "web/1"), from("web/1", "web/2"), []string{"number of pods that answered is 2, want 1"}},
	{"Expect.SamePod", "{same-pod: false}", from("web/1", "web/2"), from("web/1", "web/1"), []string{"number of pods that answered is 1, want 2 or more"}},
	{"Expect.AccessLog", "{access-log: {matches: GET /, count: 1}}", one(behave.Exchange{Access: []string{"GET /", "POST /"}}), one(behave.Exchange{Access: []string{"POST /"}}),
		[]string{"number of lines in the access log that match /GET // is 0, want 1"}},
	{"Expect.AccessLog", "{access-log: {count: 0}}", answer(200), one(behave.Exchange{Access: []string{"GET /"}}), []string{"number of lines in the access log is 1, want 0"}},
	{"Expect.ErrorLog", "{error-log: {matches: refused}}", one(behave.Exchange{Errors: []string{"connection refused"}}), answer(200),
		[]string{"number of lines in the error log that match /refused/ is 0, want 1 or more"}},

	{"Received.Method", "{pod: {method: GET}}", saw(behave.Reception{Method: "GET"}), saw(behave.Reception{Method: "HEAD"}), []string{`method at the pod is "HEAD", want "GET"`}},
	{"Received.Path", "{pod: {path: /a}}", saw(behave.Reception{Path: "/a"}), saw(behave.Reception{Path: "/b"}), []string{`path at the pod is "/b", want "/a"`}},
	{"Received.Host", "{pod: {host: a.example}}", saw(behave.Reception{Host: "a.example"}), saw(behave.Reception{Host: "b.example"}), []string{`host at the pod is "b.example", want "a.example"`}},
	{"Received.OtherHeaders", "{pod: {headers: {X-A: a}, other-headers: [X-B]}}", saw(behave.Reception{Header: header("X-A", "a", "X-B", "b", "Accept-Encoding", "gzip")}), saw(behave.Reception{Header: header("X-A", "a", "X-C", "c")}),
		[]string{`header X-C at the pod is "c", want absent`}},
	{"Received.Headers", "{pod: {headers: {X-Real-IP: {values: [a, b]}}}}", saw(behave.Reception{Header: header("X-Real-Ip", "a", "X-Real-Ip", "b")}), saw(behave.Reception{Header: header("X-Real-Ip", "a")}),
		[]string{`header X-Real-IP at the pod is "a", want "a" and "b"`}},
	{"Received.Body", "{pod: {body: {lacks: secret}}}", saw(behave.Reception{}), saw(behave.Reception{Body: []byte("a secret")}), []string{`body at the pod is "a secret", want text without "secret"`}},
	{"Received.Protocol", "{pod: {protocol: HTTP/1.1}}", saw(behave.Reception{Protocol: "HTTP/1.1"}), saw(behave.Reception{Protocol: "HTTP/1.0"}), []string{"protocol at the pod is HTTP/1.0, want HTTP/1.1"}},
	{"Received.Params", "{received: {php: [{params: {A: b, C: null}}]}}", one(behave.Exchange{Received: []behave.Reception{{Service: "php", Params: map[string]string{"A": "b"}}}}),
		one(behave.Exchange{Received: []behave.Reception{{Service: "php", Params: map[string]string{"C": ""}}}}),
		[]string{`parameter A at php is absent, want "b"`, `parameter C at php is "", want absent`}},
	{"Received.SNI", "{pod: {sni: null}}", saw(behave.Reception{}), saw(behave.Reception{SNI: "web"}), []string{`server name at the pod is "web", want absent`}},
	{"Received.Nth", "{pod: {nth: 1}}", saw(behave.Reception{Nth: 1}), saw(behave.Reception{Nth: 2}), []string{"place among the requests over its connection at the pod is 2, want 1"}},
	{"Received.TLSVersion", "{pod: {tls-version: 1.2}}", saw(behave.Reception{TLSVersion: "1.2"}), saw(behave.Reception{TLSVersion: "1.3"}), []string{"version of TLS at the pod is 1.3, want 1.2"}},
	{"Received.TLSCipher", "{pod: {tls-cipher: {contains: GCM}}}", saw(behave.Reception{TLSCipher: "TLS_AES_128_GCM_SHA256"}), saw(behave.Reception{}), []string{`cipher suite at the pod is absent, want text with "GCM"`}},
	{"Received.ClientCertificate", "{pod: {client-certificate: {matches: ^CN=}}}", saw(behave.Reception{ClientCertificate: "CN=a"}), saw(behave.Reception{}),
		[]string{"client certificate at the pod is absent, want a match of /^CN=/"}},

	{"Cookie.Value", "{cookies: {c: {value: {contains: b}}}}", sets("c=abc"), sets("c=ac"), []string{`value of cookie c is "ac", want text with "b"`}},
	{"Cookie.Path", "{cookies: {c: {path: /a}}}", sets("c=1; Path=/a"), sets("c=1; Path=/"), []string{`Path of cookie c is "/", want "/a"`}},
	{"Cookie.Domain", "{cookies: {c: {domain: a.example}}}", sets("c=1; Domain=a.example"), sets("c=1"), []string{`Domain of cookie c is absent, want "a.example"`}},
	{"Cookie.Expires", "{cookies: {c: {expires: null}}}", sets("c=1"), sets("c=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT"),
		[]string{`Expires of cookie c is "Thu, 01 Jan 2026 00:00:00 GMT", want absent`}},
	{"Cookie.MaxAge", "{cookies: {c: {max-age: 60}}}", sets("c=1; Max-Age=60"), sets("c=1; Max-Age=0"), []string{`Max-Age of cookie c is "0", want "60"`}},
	{"Cookie.SameSite", "{cookies: {c: {same-site: None}}}", sets("c=1; SameSite=None"), sets("c=1; SameSite=Lax"), []string{`SameSite of cookie c is "Lax", want "None"`}},
	{"Cookie.Secure", "{cookies: {c: {secure: true}}}", sets("c=1; Secure"), sets("c=1"), []string{"Secure of cookie c is absent, want set"}},
	{"Cookie.HTTPOnly", "{cookies: {c: {http-only: false}}}", sets("c=1"), sets("c=1; HttpOnly"), []string{"HttpOnly of cookie c is set, want absent"}},

	{"ServerTLS.Certificate", "{tls: {certificate: web}}", session(behave.Session{Certificate: "web"}), session(behave.Session{Certificate: "default"}), []string{"TLS certificate is default, want web"}},
	{"ServerTLS.Version", "{tls: {version: 1.2}}", session(behave.Session{Version: "1.2"}), session(behave.Session{Version: "1.3"}), []string{"version of TLS is 1.3, want 1.2"}},
	{"ServerTLS.Cipher", "{tls: {cipher: {contains: GCM}}}", session(behave.Session{Cipher: "TLS_AES_128_GCM_SHA256"}), session(behave.Session{Cipher: "TLS_CHACHA20_POLY1305_SHA256"}),
		[]string{`cipher suite is "TLS_CHACHA20_POLY1305_SHA256", want text with "GCM"`}},
	{"ServerTLS.Curve", "{tls: {curve: X25519}}", session(behave.Session{Curve: "X25519"}), session(behave.Session{Curve: "CurveP384"}), []string{`curve is "CurveP384", want "X25519"`}},
	{"ServerTLS.OCSP", "{tls: {ocsp: good}}", session(behave.Session{OCSP: "good"}), session(behave.Session{OCSP: "none"}), []string{"status in the stapled OCSP response is none, want good"}},
	{"ServerTLS.Chain", "{tls: {chain: 2}}", session(behave.Session{Chain: 2}), session(behave.Session{Chain: 1}), []string{"number of certificates in the chain is 1, want 2"}},
	{"ServerTLS.Resumes", "{tls: {resumes: true}}", sessions(behave.Session{}, behave.Session{Resumed: true}), sessions(behave.Session{}, behave.Session{}), []string{"resumption of the session is impossible, want possible"}},
}

// caseOf returns a case with one step.
func caseOf(t *testing.T, step string) *behave.Case {
	t.Helper()
	c, err := behave.Parse("cases/x.yaml", fmt.Appendf(nil, `apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: A case for tests.
  pods: {web: {protocol: https}, canary: {}, auth: {}, php: {protocol: fastcgi}}
  certificates: {web: {}}
  steps:
  - %s
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: shop
  annotations: {windtunnel.dev/manifest: later}
`, step), behave.Known{})
	if err != nil {
		t.Fatalf("%v\n%s", err, step)
	}
	return c
}

func texts(found behave.Judgement) []string {
	var all []string
	for _, failure := range found.Failures {
		all = append(all, failure.Error())
	}
	return all
}

func TestEveryFieldIsJudged(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.field+" "+p.expect, func(t *testing.T) {
			request := "GET https://shop.example/"
			step := fmt.Sprintf("{request: %s, times: 200, expect: %s}\n  - {apply: later}", request, p.expect)
			if n := len(p.pass); n == 1 {
				step = strings.Replace(step, "times: 200, ", "", 1)
			}
			c := caseOf(t, step)
			if got := behave.Judge(c, c.Steps[0], p.pass, false); len(got.Failures)+len(got.Unknown) > 0 {
				t.Errorf("got %q of what fulfils the expectation", texts(got))
			}
			var want []string
			for _, text := range p.failures {
				want = append(want, "cases/x.yaml:8: "+request+": "+text)
			}
			if got := texts(behave.Judge(c, c.Steps[0], p.fail, false)); !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// changePairs are for the fields that a change can fulfil.
var changePairs = []struct {
	field      string
	expect     string
	pass, fail behave.Change
	failure    string
}{
	{"Expect.Reload", "{reload: true}", behave.Change{Reloads: 2}, behave.Change{}, "number of reloads is 0, want 1 or more"},
	{"Expect.Reload", "{reload: false}", behave.Change{}, behave.Change{Reloads: 1}, "number of reloads is 1, want 0"},
	{"Expect.Rejected", "{rejected: {contains: denied}}", behave.Change{Rejected: "the webhook denied it"}, behave.Change{}, `rejection is absent, want text with "denied"`},
	{"Expect.Rejected", "{rejected: null}", behave.Change{}, behave.Change{Rejected: "no"}, `rejection is "no", want absent`},
	{"Expect.ErrorLog", "{error-log: {count: 0}}", behave.Change{}, behave.Change{Errors: []string{"x"}}, "number of lines in the error log is 1, want 0"},
	{"Expect.Rejected", "{reload: false}", behave.Change{}, behave.Change{Rejected: "no"}, `rejection is "no", want absent`},
}

func TestChangesAreJudged(t *testing.T) {
	for _, p := range changePairs {
		t.Run(p.field+" "+p.expect, func(t *testing.T) {
			c := caseOf(t, "{apply: later, expect: "+p.expect+"}")
			if got := behave.JudgeChange(c, c.Steps[0], p.pass, false); len(got.Failures) > 0 {
				t.Errorf("got %q of what fulfils the expectation", texts(got))
			}
			want := []string{"cases/x.yaml:8: apply later: " + p.failure}
			if got := texts(behave.JudgeChange(c, c.Steps[0], p.fail, false)); !reflect.DeepEqual(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestNoFieldIsForgotten checks that the tables above have every field of an expectation.
func TestNoFieldIsForgotten(t *testing.T) {
	covered := map[string]bool{}
	for _, p := range pairs {
		covered[p.field] = true
	}
	for _, p := range changePairs {
		covered[p.field] = true
	}
	for _, of := range []any{behave.Expect{}, behave.Received{}, behave.Cookie{}, behave.ServerTLS{}} {
		for field := range reflect.TypeOf(of).Fields() {
			if name := reflect.TypeOf(of).Name() + "." + field.Name; !covered[name] {
				t.Errorf("the tables lack exchanges that pass and fail %s", name)
			}
		}
	}
}

func TestConditionsOnTexts(t *testing.T) {
	for _, test := range []struct {
		condition string
		values    []string
		want      string // empty if the condition holds
	}{
		{"a", []string{"a"}, ""},
		{"a", nil, `header X is absent, want "a"`},
		{"{contains: a, lacks: b}", []string{"xa"}, ""},
		{"{contains: a, lacks: b}", []string{"ab"}, `header X is "ab", want text without "b"`},
		{"{lacks: b}", nil, ""},
		{"{matches: ^b$}", []string{"a", "b"}, ""},
		{"{matches: ^b$}", []string{"a", "c"}, `header X is "a" and "c", want a match of /^b$/`},
		{"{contains: a}", nil, `header X is absent, want text with "a"`},
		{"{equals: a, matches: b}", []string{"a"}, `header X is "a", want a match of /b/`},
		{"{values: [a, b]}", []string{"b", "a"}, `header X is "b" and "a", want "a" and "b"`},
		{`""`, []string{""}, ""},
		{`a`, []string{strings.Repeat("b", 1000)}, `header X is "` + strings.Repeat("b", 300) + `"… (1000 bytes), want "a"`},
	} {
		c := caseOf(t, "{request: GET http://shop.example/, expect: {headers: {X: "+test.condition+"}}}\n  - {apply: later}")
		got := behave.Judge(c, c.Steps[0], one(behave.Exchange{Header: http.Header{"X": test.values}}), false)
		text := ""
		if len(got.Failures) > 0 {
			_, text, _ = strings.Cut(got.Failures[0].Error(), "shop.example/: ")
		}
		if text != test.want {
			t.Errorf("%s of %q: got %q, want %q", test.condition, test.values, text, test.want)
		}
	}
}

func TestSeveralAnswersFailOnce(t *testing.T) {
	c := caseOf(t, "{request: GET http://shop.example/, times: 4, expect: {status: 200}}\n  - {apply: later}")
	exchanges := []behave.Exchange{{Status: 200}, {Status: 503}, {Status: 200}, {Status: 404}}
	want := []string{"cases/x.yaml:8: GET http://shop.example/ (answer 2 of 4, and 1 other): status is 503, want 200"}
	if got := texts(behave.Judge(c, c.Steps[0], exchanges, false)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnreadableLogsAreUnknown(t *testing.T) {
	c := caseOf(t, "{request: GET http://shop.example/, expect: {status: 200, access-log: {count: 1}}}\n  - {apply: later, expect: {reload: true, error-log: {count: 0}}}")
	answers := one(behave.Exchange{Status: 200, LogsUnknown: true})
	if got := behave.Judge(c, c.Steps[0], answers, false); len(got.Failures) > 0 || len(got.Unknown) != 1 {
		t.Errorf("got %+v, want one unknown", got)
	}
	change := behave.Change{LogsUnknown: true, ReloadsUnknown: true}
	got := behave.Conclude(c, []behave.Record{{Exchanges: answers}, {Change: &change}}, false)
	if want := "logs of this subject cannot be read; reloads of this subject cannot be seen"; got.Outcome != behave.Skipped || got.Reason != want {
		t.Errorf("got %+v, want it skipped: %s", got, want)
	}
	answers[0].Status = 404
	if got := behave.Conclude(c, []behave.Record{{Exchanges: answers}, {Change: &change}}, false); got.Outcome != behave.Failed || len(got.Failures) != 1 {
		t.Errorf("got %+v, want one failure", got)
	}
}

func TestOutcomes(t *testing.T) {
	same := caseOf(t, "{request: GET http://shop.example/, expect: {status: 200}}\n  - {apply: later}")
	differs := caseOf(t, "{request: GET http://shop.example/, expect: {status: 200}, bundled: {status: 503}}\n  - {apply: later}\n  differs: compat.md#row")
	for _, test := range []struct {
		name    string
		c       *behave.Case
		status  int
		bundled bool
		want    behave.Outcome
		text    string
	}{
		{"as expected", same, 200, true, behave.Passed, ""},
		{"not as expected", same, 404, true, behave.Failed, "cases/x.yaml:8: GET http://shop.example/: status is 404, want 200"},
		{"a difference that is admitted", differs, 503, true, behave.Differs, ""},
		{"another difference", differs, 404, true, behave.Failed, "cases/x.yaml:8: GET http://shop.example/: status is 404, want 503"},
		{"no difference", differs, 200, true, behave.NoLonger,
			"cases/x.yaml:8: GET http://shop.example/: the bundled controller is like ingress-nginx, want a difference; remove differs: and bundled:"},
		{"ingress-nginx itself", differs, 200, false, behave.Passed, ""},
		{"ingress-nginx differs", differs, 503, false, behave.Failed, "cases/x.yaml:8: GET http://shop.example/: status is 503, want 200"},
	} {
		got := behave.Conclude(test.c, []behave.Record{{Exchanges: answer(test.status)}, {Change: &behave.Change{}}}, test.bundled)
		var text string
		if len(got.Failures) > 0 {
			text = got.Failures[0].Error()
		}
		if got.Outcome != test.want || text != test.text {
			t.Errorf("%s: got %s, %q; want %s, %q", test.name, got.Outcome, text, test.want, test.text)
		}
	}
	records := func(status int) []behave.Record {
		return []behave.Record{{Exchanges: answer(status)}, {Change: &behave.Change{}}}
	}
	if got, want := behave.Conclude(differs, records(503), false).Reason, "the bundled controller gives this answer, as compat.md#row documents; if this is a build of it, add --bundled"; got != want {
		t.Errorf("the answers of the bundled controller: got the reason %q, want %q", got, want)
	}
	if got := behave.Conclude(differs, records(404), false).Reason; got != "" {
		t.Errorf("answers of another controller: got the reason %q, want none", got)
	}
	void := behave.Conclude(same, []behave.Record{{Exchanges: answer(200)}}, true)
	if want := "nothing was recorded of the step at line 9: apply later"; void.Outcome != behave.Void || void.Reason != want {
		t.Errorf("got %+v, want it void: %s", void, want)
	}
}
