package derive

import (
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/sim/behave"
)

// Placeholder returns the case with expectations that expect nothing, because a run needs some to
// read the case.
func (c *Case) Placeholder() *behave.Case {
	with := c.Case
	with.Steps = slices.Clone(c.Steps)
	for n := range with.Steps {
		if step := &with.Steps[n]; step.Request.Request != "" {
			step.Expect.Status = behave.Statuses{http.StatusOK}
		}
	}
	return &with
}

// Complete returns the case with the answers of a controller as its expectations. records has one
// record for each step.
func (c *Case) Complete(records []behave.Record) *behave.Case {
	with := c.Case
	with.Steps = slices.Clone(c.Steps)
	for n := range with.Steps {
		if step := &with.Steps[n]; step.Request.Request != "" {
			r := recorder{c, *step, c.looks[n]}
			step.Expect = r.expect(records[n].Exchanges)
		}
	}
	return &with
}

// recorder turns the answers to a step into expectations.
type recorder struct {
	c    *Case
	step behave.Step
	look look
}

func (r recorder) expect(exchanges []behave.Exchange) behave.Expect {
	if len(exchanges) != 1 {
		return r.several(exchanges)
	}
	e := exchanges[0]
	expect := behave.Expect{Received: r.others(e)}
	if e.Failure != "" {
		expect.Fails = e.Failure
		return expect
	}
	expect.Status = behave.Statuses{e.Status}
	expect.Headers = r.headers(e.Header, r.look.answer, r.look.exceptAnswer, behave.VolatileInAnswers)
	if r.look.all {
		expect.OtherHeaders = others(r.look.exceptAnswer)
	}
	if values := e.Header.Values("Location"); len(values) > 0 {
		expect.Headers["Location"] = r.location(values[0])
	}
	if r.look.cookies {
		expect.Cookies = r.cookies(e.Header)
	}
	if e.TLS != nil {
		expect.TLS = r.session(*e.TLS)
	}
	if r.step.HTTP == "2" {
		expect.HTTP = strings.TrimSuffix(strings.TrimPrefix(e.Protocol, "HTTP/"), ".0")
	}
	answered := answeredBy(e)
	if !r.look.anyService {
		expect.Service = behave.None
		if answered != nil {
			expect.Service = answered.Service
		}
	}
	if answered != nil {
		expect.Pod = r.pod(*answered)
	} else if text := string(e.Body); e.Status < 300 && text != "" && len(text) <= longestBody && strings.TrimSpace(text) != "" {
		expect.Body = &behave.Match{Equals: &text}
	}
	if len(expect.Headers) == 0 {
		expect.Headers = nil
	}
	return expect
}

// longestBody is the maximum length of a body that is recorded, such as one that a snippet returns.
const longestBody = 200

// several records what several answers have in common.
func (r recorder) several(exchanges []behave.Exchange) behave.Expect {
	var expect behave.Expect
	services, statuses, pods := map[string]int{}, map[int]int{}, map[string]int{}
	if !slices.ContainsFunc(exchanges, func(e behave.Exchange) bool { return e.Failure == "" }) {
		return behave.Expect{Fails: exchanges[0].Failure}
	}
	for _, e := range exchanges {
		if e.Failure != "" {
			continue
		}
		service := behave.None
		if answered := answeredBy(e); answered != nil {
			service = answered.Service
			pods[answered.Service+"/"+answered.Pod]++
		}
		services[service]++
		statuses[e.Status]++
	}
	switch {
	case len(statuses) == 1:
		expect.Status = slices.Sorted(maps.Keys(statuses))
	case r.look.served > 0 && statuses[http.StatusOK] >= r.look.served:
		expect.Statuses = map[int]behave.Count{http.StatusOK: {Min: new(r.look.served)}}
		for status := range statuses {
			if status != http.StatusOK {
				expect.Statuses[status] = behave.Count{Min: new(1)}
			}
		}
	default:
		expect.Status = slices.Sorted(maps.Keys(statuses))
	}
	if r.look.samePod && len(pods) > 0 {
		expect.SamePod = new(len(pods) == 1)
	}
	switch {
	case len(services) == 1 && !r.look.anyService && (r.look.shares == nil || behave.Unlikely(r.look.shares, services)):
		for service := range services {
			expect.Service = service
		}
	case r.look.shares != nil && !behave.Unlikely(r.look.shares, services):
		expect.Shares = r.look.shares
	case r.look.shares != nil && services[behave.None] == 0: // the annotations promise other shares
		names := slices.Sorted(maps.Keys(services))
		expect.Shares = map[string]float64{}
		rest := 1.0
		for _, service := range names[1:] {
			share := math.Round(float64(services[service])/float64(len(exchanges))*1000) / 1000
			expect.Shares[service] = share
			rest -= share
		}
		expect.Shares[names[0]] = math.Round(rest*1000) / 1000
	}
	return expect
}

// answeredBy returns the reception that the client's answer comes from, or nil.
func answeredBy(e behave.Exchange) *behave.Reception {
	for n := range e.Received {
		if e.Received[n].Answered {
			return &e.Received[n]
		}
	}
	return nil
}

// headers records the headers in looked and, if look.all is set, the others that are not excluded.
func (r recorder) headers(header http.Header, looked, except, volatile []string) map[string]behave.Match {
	found := map[string]behave.Match{}
	if r.look.all {
		for name, values := range header {
			if behave.OfPods(name) || contains(volatile, name) || contains(except, name) {
				continue
			}
			found[name] = r.match(name, values)
		}
	}
	for _, name := range looked {
		found[name] = r.match(name, header.Values(name))
	}
	return found
}

// others returns the names of headers that other questions are about.
func others(names []string) *[]string {
	names = slices.Clone(names)
	slices.Sort(names)
	names = append([]string{}, slices.Compact(names)...)
	return &names
}

func contains(names []string, name string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return strings.EqualFold(one, name) })
}

var (
	// ofClients are the headers with an address or port of the client, which depends on the machine.
	ofClients = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Port", "X-Original-Forwarded-For", "X-Real-Ip", "X-Forwarded-For-Proxy-Protocol"}
	address   = regexp.MustCompile(`\b(127|10|172|192)\.\d+\.\d+\.\d+\b|\[[0-9a-f:]+\]`)
	number    = regexp.MustCompile(`^[0-9a-f]{32}$`)
	pemText   = regexp.MustCompile(`-----BEGIN`)
)

// match records the values of a header. If they differ from run to run, the header only has to be
// present.
func (r recorder) match(name string, values []string) behave.Match {
	present := behave.Match{Matches: "."}
	switch {
	case len(values) == 0:
		return behave.Match{Absent: true}
	case len(values) > 1:
		if slices.ContainsFunc(values, func(value string) bool { return address.MatchString(value) || number.MatchString(value) }) {
			return present
		}
		return behave.Match{Values: values}
	case values[0] == "":
		return behave.Match{Equals: new("")}
	case number.MatchString(values[0]):
		return behave.Match{Matches: number.String()}
	case r.given(values[0]) && contains(ofClients, name):
		return behave.Match{Equals: &values[0]}
	case contains(ofClients, name), address.MatchString(values[0]), pemText.MatchString(values[0]):
		return present
	}
	return behave.Match{Equals: &values[0]}
}

// given reports whether the request itself determines a value, so that it is the same in every run.
func (r recorder) given(value string) bool {
	if r.step.Proxy != nil && strings.HasPrefix(r.step.Proxy.Source, value+":") {
		return true
	}
	for _, values := range r.step.Headers {
		if slices.Contains(values, value) {
			return true
		}
	}
	return false
}

// withPort matches a URL with a port.
var withPort = regexp.MustCompile(`^(https?://[^/?#:]+):\d+(.*)$`)

// location records where a redirect leads. A port of the controller differs from run to run.
func (r recorder) location(value string) behave.Match {
	if parts := withPort.FindStringSubmatch(value); parts != nil && !r.written(value) {
		return behave.Match{Matches: "^" + regexp.QuoteMeta(parts[1]) + ":[0-9]+" + regexp.QuoteMeta(parts[2]) + "$"}
	}
	return behave.Match{Equals: &value}
}

// written reports whether an annotation contains the host and port of a URL.
func (r recorder) written(url string) bool {
	parts := strings.SplitN(url, "/", 4)
	for _, m := range r.c.Manifests {
		for _, value := range m.Object.GetAnnotations() {
			if len(parts) > 2 && strings.Contains(value, parts[2]) {
				return true
			}
		}
	}
	return false
}

// cookies records the cookies that an answer sets.
func (r recorder) cookies(header http.Header) map[string]*behave.Cookie {
	var all map[string]*behave.Cookie
	for _, line := range header.Values("Set-Cookie") {
		cookie, err := http.ParseSetCookie(line)
		if err != nil {
			continue
		}
		one := &behave.Cookie{
			Path: attribute(cookie.Path), Domain: attribute(cookie.Domain), SameSite: sameSite(cookie.SameSite),
			Secure: new(cookie.Secure), HTTPOnly: new(cookie.HttpOnly), MaxAge: &behave.Match{Absent: true}, Expires: &behave.Match{Absent: true},
		}
		if cookie.MaxAge != 0 {
			one.MaxAge = attribute(strconv.Itoa(max(cookie.MaxAge, 0)))
		}
		if cookie.RawExpires != "" {
			one.Expires = &behave.Match{Matches: "."}
		}
		if cookie.Name == word { // set by a pod; other cookies are for session affinity
			one.Value = &behave.Match{Equals: &cookie.Value}
		}
		if all == nil {
			all = map[string]*behave.Cookie{}
		}
		all[cookie.Name] = one
	}
	return all
}

func attribute(text string) *behave.Match {
	if text == "" {
		return &behave.Match{Absent: true}
	}
	return &behave.Match{Equals: &text}
}

func sameSite(mode http.SameSite) *behave.Match {
	return attribute(map[http.SameSite]string{http.SameSiteLaxMode: "Lax", http.SameSiteStrictMode: "Strict", http.SameSiteNoneMode: "None"}[mode])
}

// session records the certificate, if it belongs to the case or is the controller's own.
func (r recorder) session(s behave.Session) *behave.ServerTLS {
	var seen behave.ServerTLS
	if _, known := r.c.Certificates[s.Certificate]; known || s.Certificate == behave.Default {
		seen.Certificate = s.Certificate
	}
	if r.look.cipher {
		seen.Cipher = attribute(s.Cipher)
	}
	if r.step.TLS.Min != "" {
		seen.Version = s.Version
	}
	if seen == (behave.ServerTLS{}) {
		return nil
	}
	return &seen
}

// pod records what the pod that answered has received.
func (r recorder) pod(got behave.Reception) *behave.Received {
	seen := &behave.Received{Path: &behave.Match{Equals: new(got.Path)}}
	target := r.step.Target()
	if got.Method != target.Method {
		seen.Method = &behave.Match{Equals: new(got.Method)}
	}
	if r.look.host || got.Host != target.Host && !address.MatchString(got.Host) {
		seen.Host = attribute(got.Host)
	}
	if r.look.protocol {
		seen.Protocol = got.Protocol
	}
	seen.Headers = r.headers(got.Header, r.look.pod, r.look.exceptPod, behave.VolatileAtPods)
	delete(seen.Headers, "Host")
	if r.look.all {
		seen.OtherHeaders = others(r.look.exceptPod)
	}
	if r.look.anyService {
		delete(seen.Headers, "X-Service-Name")
		if seen.OtherHeaders != nil {
			*seen.OtherHeaders = append(*seen.OtherHeaders, "X-Service-Name")
		}
	}
	if len(seen.Headers) == 0 {
		seen.Headers = nil
	}
	if pods := r.c.Pods[got.Service]; r.look.sni && (pods.Protocol == "https" || pods.Protocol == "grpcs") {
		seen.SNI, seen.ClientCertificate = attribute(got.SNI), attribute(got.ClientCertificate)
	} else if pods.Protocol == "fastcgi" {
		for _, name := range r.look.params {
			if seen.Params == nil {
				seen.Params = map[string]behave.Match{}
			}
			seen.Params[name] = behave.Match{Absent: true}
			if value, ok := got.Params[name]; ok {
				seen.Params[name] = behave.Match{Equals: &value}
			}
		}
	}
	return seen
}

// others records what pods received without answering.
func (r recorder) others(e behave.Exchange) map[string][]behave.Received {
	if len(r.look.received) == 0 {
		return nil
	}
	all := map[string][]behave.Received{}
	for _, service := range r.look.received {
		all[service] = []behave.Received{}
		for _, got := range e.Received {
			if got.Answered || got.Service != service {
				continue
			}
			seen := behave.Received{Method: &behave.Match{Equals: new(got.Method)}, Path: &behave.Match{Equals: new(got.Path)}, Body: attribute(string(got.Body))}
			if r.look.receivedHost {
				seen.Host = attribute(got.Host)
			}
			for _, name := range r.look.receivedHeaders {
				if seen.Headers == nil {
					seen.Headers = map[string]behave.Match{}
				}
				seen.Headers[name] = r.match(name, got.Header.Values(name))
			}
			all[service] = append(all[service], seen)
		}
	}
	return all
}
