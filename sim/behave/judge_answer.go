package behave

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// exchange checks the expectations of a single answer.
func (j *judge) exchange(expect Expect, e Exchange) {
	j.took(expect.Took, e.Took)
	j.received(expect.Received, e.Received)
	switch {
	case expect.Fails != "":
		ended := expect.Fails == "ended" && (e.Failure == "closed" || e.Failure == "reset")
		if e.Failure != expect.Fails && !ended {
			j.fail("failure", e.outcome(), expect.Fails)
		}
		return
	case e.Failure != "":
		j.fail("answer", "missing, "+e.outcome(), "one")
		return
	}
	if len(expect.Status) > 0 && !slices.Contains(expect.Status, e.Status) {
		var wanted []string
		for _, status := range expect.Status {
			wanted = append(wanted, strconv.Itoa(status))
		}
		j.fail("status", strconv.Itoa(e.Status), strings.Join(wanted, " or "))
	}
	j.headers("", expect.Headers, e.Header)
	j.otherHeaders("", expect.OtherHeaders, expect.Headers, e.Header, VolatileInAnswers)
	j.match("body", expect.Body, body(e.Body))
	j.cookies(expect.Cookies, e.Header)
	j.equal("version of HTTP", version(e.Protocol), expect.HTTP)
	if expect.MaxStreams > 0 && e.MaxStreams != expect.MaxStreams {
		j.fail("number of requests at the same time", strconv.Itoa(e.MaxStreams), strconv.Itoa(expect.MaxStreams))
	}
	j.tls(expect.TLS, e.TLS)
	j.pod(expect, e.answered())
}

// outcome describes the failure of an exchange, or its answer.
func (e Exchange) outcome() string {
	switch {
	case e.Failure == "":
		return fmt.Sprintf("none, but status %d", e.Status)
	case e.Detail == "":
		return e.Failure
	}
	return fmt.Sprintf("%s (%s)", e.Failure, e.Detail)
}

// answered returns the reception that the client's answer comes from, or nil.
func (e Exchange) answered() *Reception {
	for i := range e.Received {
		if e.Received[i].Answered {
			return &e.Received[i]
		}
	}
	return nil
}

// body returns a body as the texts for a condition: none if it is empty.
func body(data []byte) []string { return optional(string(data)) }

// optional returns a text as the texts for a condition: none if it is empty.
func optional(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// version returns the version of HTTP as case files write it.
func version(protocol string) string {
	number := strings.TrimPrefix(protocol, "HTTP/")
	if number == "2.0" {
		return "2"
	}
	return number
}

func (j *judge) headers(where string, wanted map[string]Match, header http.Header) {
	for _, name := range sorted(wanted) {
		match := wanted[name]
		j.match("header "+name+where, &match, header.Values(name))
	}
}

// otherHeaders checks that a header is wanted, allowed or volatile.
func (j *judge) otherHeaders(where string, allowed *[]string, wanted map[string]Match, header http.Header, volatile []string) {
	if allowed == nil {
		return
	}
	for _, name := range sorted(header) {
		if !OfPods(name) && !hasName(*allowed, name) && !hasName(sorted(wanted), name) && !hasName(volatile, name) {
			j.match("header "+name+where, &Match{Absent: true}, header[name])
		}
	}
}

func (j *judge) cookies(wanted map[string]*Cookie, header http.Header) {
	got := map[string]*http.Cookie{}
	for _, line := range header.Values("Set-Cookie") {
		if cookie, err := http.ParseSetCookie(line); err == nil {
			got[cookie.Name] = cookie // as in a client, the last one of a name counts
		}
	}
	for _, name := range sorted(wanted) {
		field, want, cookie := "cookie "+name, wanted[name], got[name]
		switch {
		case want == nil && cookie != nil:
			j.fail(field, show([]string{cookie.Raw}), "absent")
		case want != nil && cookie == nil:
			j.fail(field, "absent", "set")
		case want != nil:
			j.cookie(field, *want, cookie)
		}
	}
}

func (j *judge) cookie(field string, want Cookie, got *http.Cookie) {
	j.match("value of "+field, want.Value, []string{got.Value})
	j.match("Path of "+field, want.Path, optional(got.Path))
	j.match("Domain of "+field, want.Domain, optional(got.Domain))
	j.match("Expires of "+field, want.Expires, optional(got.RawExpires))
	j.match("Max-Age of "+field, want.MaxAge, maxAge(got.MaxAge))
	j.match("SameSite of "+field, want.SameSite, sameSite(got.SameSite))
	j.flag("Secure of "+field, want.Secure, got.Secure)
	j.flag("HttpOnly of "+field, want.HTTPOnly, got.HttpOnly)
}

func (j *judge) flag(field string, want *bool, got bool) {
	words := map[bool]string{true: "set", false: "absent"}
	if want != nil && *want != got {
		j.fail(field, words[got], words[*want])
	}
}

// maxAge returns the attribute Max-Age. net/http parses 0 and less as -1, and no attribute as 0.
func maxAge(seconds int) []string {
	if seconds == 0 {
		return nil
	}
	return []string{strconv.Itoa(max(seconds, 0))}
}

// sameSite returns the attribute SameSite. net/http does not keep a value that it does not know.
func sameSite(mode http.SameSite) []string {
	switch mode {
	case http.SameSiteLaxMode:
		return []string{"Lax"}
	case http.SameSiteStrictMode:
		return []string{"Strict"}
	case http.SameSiteNoneMode:
		return []string{"None"}
	case http.SameSiteDefaultMode:
		return []string{"an unknown value"}
	}
	return nil
}

// pod checks which pod answered, and what it received.
func (j *judge) pod(expect Expect, answered *Reception) {
	service := None
	if answered != nil {
		service = answered.Service
	}
	j.equal("service", service, expect.Service)
	switch {
	case expect.Pod == nil:
	case answered == nil:
		j.fail("pod that answered", None, "one")
	default:
		j.reception(" at the pod", *expect.Pod, *answered)
	}
}

// received checks the requests that pods received without giving the answer.
func (j *judge) received(wanted map[string][]Received, all []Reception) {
	others := map[string][]Reception{}
	for _, r := range all {
		if !r.Answered {
			others[r.Service] = append(others[r.Service], r)
		}
	}
	for _, service := range sorted(wanted) {
		want, got := wanted[service], others[service]
		if len(got) != len(want) {
			j.fail("number of requests at "+service, strconv.Itoa(len(got)), strconv.Itoa(len(want)))
			continue
		}
		for i := range want {
			where := " at " + service
			if len(want) > 1 {
				where = fmt.Sprintf(" of request %d at %s", i+1, service)
			}
			j.reception(where, want[i], got[i])
		}
	}
}

func (j *judge) reception(where string, want Received, got Reception) {
	j.match("method"+where, want.Method, []string{got.Method})
	j.match("path"+where, want.Path, []string{got.Path})
	j.match("host"+where, want.Host, optional(got.Host))
	j.headers(where, want.Headers, got.Header)
	j.otherHeaders(where, want.OtherHeaders, want.Headers, got.Header, VolatileAtPods)
	j.match("body"+where, want.Body, body(got.Body))
	j.equal("protocol"+where, got.Protocol, want.Protocol)
	for _, name := range sorted(want.Params) {
		match := want.Params[name]
		var texts []string
		if value, ok := got.Params[name]; ok {
			texts = []string{value}
		}
		j.match("parameter "+name+where, &match, texts)
	}
	j.match("server name"+where, want.SNI, optional(got.SNI))
	if want.Nth > 0 && got.Nth != want.Nth {
		j.fail("place among the requests over its connection"+where, strconv.Itoa(got.Nth), strconv.Itoa(want.Nth))
	}
	j.equal("version of TLS"+where, got.TLSVersion, want.TLSVersion)
	j.match("cipher suite"+where, want.TLSCipher, optional(got.TLSCipher))
	j.match("client certificate"+where, want.ClientCertificate, optional(got.ClientCertificate))
}

func (j *judge) tls(want *ServerTLS, got *Session) {
	switch {
	case want == nil:
		return
	case got == nil:
		j.fail("TLS", "absent", "it")
		return
	}
	j.equal("TLS certificate", got.Certificate, want.Certificate)
	j.equal("version of TLS", got.Version, want.Version)
	j.match("cipher suite", want.Cipher, optional(got.Cipher))
	j.match("curve", want.Curve, optional(got.Curve))
	j.equal("status in the stapled OCSP response", got.OCSP, want.OCSP)
	if want.Chain > 0 && got.Chain != want.Chain {
		j.fail("number of certificates in the chain", strconv.Itoa(got.Chain), strconv.Itoa(want.Chain))
	}
}

// resumption checks whether the connections but the first have resumed a session.
func (j *judge) resumption(want *ServerTLS, exchanges []Exchange) {
	if want == nil || want.Resumes == nil {
		return
	}
	for _, e := range exchanges[min(1, len(exchanges)):] {
		if e.TLS != nil && e.TLS.Resumed != *want.Resumes {
			words := map[bool]string{true: "possible", false: "impossible"}
			j.fail("resumption of the session", words[e.TLS.Resumed], words[*want.Resumes])
			return
		}
	}
}

func (j *judge) took(want *Range, got time.Duration) {
	switch {
	case want == nil:
	case got < want.Min:
		j.fail("time", got.String(), want.Min.String()+" or more")
	case want.Max > 0 && got > want.Max:
		j.fail("time", got.String(), want.Max.String()+" at most")
	}
}
