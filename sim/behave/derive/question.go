package derive

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/sim/behave"
)

// question is a step of a case without expectations, and what to record of its answers.
type question struct {
	step   behave.Step
	look   look
	when   when
	ofPath bool
}

// when is the order in which questions are asked.
type when int

const (
	first  when = iota // because the pods answer only their first request in this way
	normal             // in the order in which they are added
	last               // because it changes the answers to the others
)

// look says what to record of an answer. The status, a redirect, the service, the path and method
// at the pod, and the certificate are always recorded.
type look struct {
	// all records all headers of the answer, and of the request at the pod, that are the same in
	// every run, except those that other questions are about.
	all                     bool
	exceptAnswer, exceptPod []string
	answer                  []string // headers of the answer, also if they are absent
	pod                     []string // headers at the pod, also if they are absent
	host                    bool     // the Host header at the pod
	protocol                bool     // of the request at the pod
	sni                     bool     // and the certificate that nginx presents
	params                  []string // of FastCGI
	cookies                 bool     // that are set, with their attributes
	cipher                  bool
	received                []string // services that receive requests without answering
	receivedHost            bool
	receivedHeaders         []string
	shares                  map[string]float64 // of services
	served                  int                // with several statuses: how many answers have status 200 at least
	samePod                 bool
	anyService              bool // chance decides which service answers
}

// asker adds questions about one ingress.
type asker struct {
	*builder
	site    *site
	path    *path
	i       *ingress // whose annotations the questions are about
	about   []string
	ofPaths bool // the questions are about fields of ingresses; equal ones are asked once
	near    bool // the requests are for paths close to the path; another path may match them
}

// ask adds a question: a request of a client that fulfils all access requirements of the ingress.
// target is the path with its query, as sent.
func (a *asker) ask(method, scheme, host, target string) *question {
	q := &question{when: normal, ofPath: a.ofPaths}
	q.step.Request.Request = fmt.Sprintf("%s %s://%s%s", method, scheme, host, target)
	q.step.About = slices.Clone(a.about)
	a.permit(q, scheme)
	a.awaitMirrors(q)
	if a.path != nil {
		path := a.path
		if a.near {
			path = nil
		}
		for _, canary := range a.canaries(a.site, path) {
			a.avoid(q, canary)
		}
	}
	a.questions = append(a.questions, q)
	return q
}

// get asks for a path on the site, as its clients do.
func (a *asker) get(target string) *question {
	if a.path == nil || !a.path.grpc() {
		return a.ask("GET", a.site.scheme(), a.site.host, target)
	}
	target, _, _ = strings.Cut(target, "?")
	if strings.Count(target, "/") < 2 {
		target = strings.TrimSuffix(target, "/") + "/Say"
	}
	q := a.ask("POST", "https", a.site.host, target)
	q.step.GRPC = true
	q.step.Body = word
	return q
}

// target is the path of the sample, if possible one that the pods answer. With app-root, nginx
// redirects / for the whole host, so / would not show the effect of any other annotation.
func (a *asker) target() string {
	text, _ := a.path.asked()
	if text == "/" && !a.path.regex && a.path.kind != networkingv1.PathTypeExact && a.site.hasAppRoot() {
		return "/" + word
	}
	return text
}

func (s *site) hasAppRoot() bool {
	return slices.ContainsFunc(s.paths, func(p *path) bool { return p.ingress.has("app-root") })
}

func (s *site) scheme() string {
	if s.tls {
		return "https"
	}
	return "http"
}

// permit adds what the ingress requires of a client to a request: the password, the certificate and
// the address.
func (a *asker) permit(q *question, scheme string) {
	of := a.i
	if a.path != nil {
		of = a.path.ingress
	}
	if of == nil {
		return
	}
	if of.has("auth-type") {
		q.header("Authorization", basic(user, password))
	}
	if scheme == "https" {
		if name := a.clientOf(a.site); name != "" {
			q.step.TLS.Certificate = name
		}
	}
	address := ""
	if inside, _, ok := addresses(of.value("allowlist-source-range", "whitelist-source-range"), a.config["whitelist-source-range"]); ok {
		address = inside
	}
	limited := slices.ContainsFunc(a.ingresses, func(i *ingress) bool { return i.has("limit-rps", "limit-rpm", "limit-connections") })
	if limited { // each request comes from a client of its own, so that only those that ask for limits are limited
		a.clients++
	}
	switch {
	case isTrue(a.config["use-proxy-protocol"]):
		q.step.Proxy = &behave.Proxy{Source: cmp.Or(address, fmt.Sprintf("203.0.113.%d", 1+a.clients%250)) + ":4711", Destination: "192.0.2.1:443"}
	case address != "" && isTrue(a.config["use-forwarded-headers"]):
		q.header(a.forwardedFor(), address)
	case limited:
		q.step.From = fmt.Sprintf("127.0.%d.%d", 2+a.clients/250, 1+a.clients%250)
	}
}

// forwardedFor is the header with the client's address.
func (b *builder) forwardedFor() string {
	return cmp.Or(b.config["forwarded-for-header"], "X-Forwarded-For")
}

// avoid keeps a request away from a canary, if the canary's annotations make that possible.
func (a *asker) avoid(q *question, canary *ingress) {
	header, cookie := canary.value("canary-by-header"), canary.value("canary-by-cookie")
	switch {
	case header != "" && !canary.has("canary-by-header-value", "canary-by-header-pattern"):
		q.header(header, "never")
	case cookie != "":
		q.header("Cookie", cookie+"=never")
	case canary.has("canary-weight") && canary.value("canary-weight") != "0":
		q.look.anyService = true
	}
}

// awaitMirrors records what mirrors receive, for all questions about a site that has mirrors:
// otherwise a late copy would be attributed to the next request.
func (a *asker) awaitMirrors(q *question) {
	for _, p := range a.site.paths {
		if !p.has("mirror-target") {
			continue
		}
		to, _, ok := a.called(p.Namespace, p.value("mirror-target"), mirrorService)
		if !ok || slices.Contains(q.look.received, to.name) {
			continue
		}
		q.look.received = append(q.look.received, to.name)
		if q.step.Expect.Received == nil {
			q.step.Expect.Received = map[string][]behave.Received{}
		}
		q.step.Expect.Received[to.name] = []behave.Received{} // makes the run wait for it
	}
}

// together sends a request many times at once. It expects nothing of mirrors: what they receive cannot be
// attributed to one of the requests.
func (q *question) together(times int) {
	q.step.Times, q.step.Together = times, true
	q.step.Expect.Received, q.look.received = nil, nil
}

// header sets a header of the request.
func (q *question) header(name string, value ...string) *question {
	if q.step.Headers == nil {
		q.step.Headers = map[string]behave.Values{}
	}
	for before := range q.step.Headers {
		if strings.EqualFold(before, name) {
			delete(q.step.Headers, before)
		}
	}
	q.step.Headers[name] = value
	return q
}

// without removes a header that permit has added.
func (q *question) without(name string) *question {
	delete(q.step.Headers, name)
	return q
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// ordered returns the questions in the order in which they are asked. It merges questions about
// paths that send the same request.
func (b *builder) ordered() []*question {
	var all []*question
	byRequest := map[string]*question{}
	for _, q := range b.questions {
		if what := q.unsendable(); what != "" {
			for _, about := range q.step.About {
				b.notes.add(about, "not tested: no client can send "+what, b.ingresses[0].object())
			}
			continue
		}
		if !q.ofPath {
			all = append(all, q)
			continue
		}
		request := q.key()
		before := byRequest[request]
		if before == nil {
			byRequest[request] = q
			all = append(all, q)
			continue
		}
		for _, about := range q.step.About {
			if !slices.Contains(before.step.About, about) {
				before.step.About = append(before.step.About, about)
			}
		}
		if q.look.all {
			before.look = q.look
		}
	}
	slices.SortStableFunc(all, func(a, b *question) int { return cmp.Compare(a.when, b.when) })
	return all
}

// key returns a text that is equal for equal requests.
func (q *question) key() string {
	request, proxy := q.step.Request, behave.Proxy{}
	if request.Proxy != nil {
		proxy, request.Proxy = *request.Proxy, nil // a pointer, which is printed as an address
	}
	return fmt.Sprintf("%+v %+v", request, proxy)
}

// unsendable returns the part of a request that a client cannot send, or "" if there is none.
// Values of annotations and hosts can be arbitrary texts.
func (q *question) unsendable() string {
	if q.step.Request.Request != "" && q.step.Target().Host == "" {
		return strconv.Quote(q.step.Request.Request)
	}
	for name, values := range q.step.Headers {
		if !validHeader(name) || slices.Contains(ofRequests, strings.ToLower(name)) {
			return "the header " + strconv.Quote(name)
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return "the header value " + strconv.Quote(value)
			}
		}
	}
	return ""
}

// ofRequests are the headers that the URL and the body determine.
var ofRequests = []string{"content-length", "host", "transfer-encoding"}
