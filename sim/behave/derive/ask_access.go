package derive

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/regexample"
	"windtunnel.dev/sim/behave"
)

// askPassword asks without a password, with a wrong one, and with the one in the Secret of the case.
func askPassword(a *asker) {
	record := func(q *question) { q.look.answer = []string{"Www-Authenticate"} }
	record(a.get(a.target()).without("Authorization"))
	record(a.get(a.target()).header("Authorization", basic(user, "wrong")))
	record(a.get(a.target()).header("Authorization", basic(user, password)))
}

// askAuthURL sends a request that the authentication service refuses, and one that it accepts.
func askAuthURL(a *asker) {
	to, rest, ok := a.called(a.i.Namespace, a.i.value("auth-url"), authService)
	if !ok {
		a.notes.add("annotation/auth-url", "not tested: its host is a variable", a.i.object())
		return
	}
	a.authenticate(to, rest, list(a.i.value("auth-response-headers")), a.i.has("auth-cache-key"))
}

// authenticate sends a request that a service refuses, if possible, and one that it accepts. rest is
// the path and query at which nginx asks the service.
func (a *asker) authenticate(to *service, rest string, headers []string, cached bool) {
	path, _, _ := strings.Cut(rest, "?")
	path, _, _ = strings.Cut(path, "$")
	alone := to.invent
	if !cached && (alone || len(path) > 1) && (path == "" || strings.HasPrefix(path, "/")) {
		if to.rule(behave.Rule{Path: cmp.Or(path, "/"), First: 1, Answer: behave.Answer{Status: 401}}) {
			q := a.get(a.target() + "?windtunnel=1")
			q.when = first
			q.look.answer, q.look.cookies = []string{"Www-Authenticate"}, true
			q.look.received, q.look.receivedHeaders = append(q.look.received, to.name), authHeaders
		}
	}
	for _, header := range headers {
		if to.pods.Headers == nil {
			to.pods.Headers = map[string]behave.Values{}
		}
		if validHeader(header) && !strings.EqualFold(header, "Set-Cookie") {
			to.pods.Headers[canonical(header)] = behave.Values{word}
		}
	}
	if to.invent {
		if to.pods.Headers == nil {
			to.pods.Headers = map[string]behave.Values{}
		}
		to.pods.Headers["Set-Cookie"] = behave.Values{"windtunnel=1; Path=/"}
	}
	q := a.get(a.target() + "?windtunnel=1")
	q.look.cookies = true
	q.look.received, q.look.receivedHeaders = append(q.look.received, to.name), authHeaders
	for _, header := range headers {
		if validHeader(header) {
			q.look.pod = append(q.look.pod, canonical(header))
		}
	}
}

// authHeaders are the headers that describe the client's request to an authentication service.
var authHeaders = []string{"X-Original-Url", "X-Original-Method", "X-Auth-Request-Redirect", "X-Sent-From"}

// rule adds a rule to the pods, unless an earlier one hides it, and reports whether it did.
func (s *service) rule(r behave.Rule) bool {
	for _, before := range s.pods.Rules {
		if strings.HasPrefix(r.Path, before.Path) && (before.Method == "" || before.Method == r.Method) {
			return false
		}
	}
	s.pods.Rules = append(s.pods.Rules, r)
	return true
}

// clientCertificateHeaders are the headers that describe a client's certificate to pods.
var clientCertificateHeaders = []string{"Ssl-Client-Verify", "Ssl-Client-Subject-Dn", "Ssl-Client-Issuer-Dn", "Ssl-Client-Cert"}

// clientOf returns the name of a certificate that clients may use for a site, or "" if there is
// none.
func (b *builder) clientOf(s *site) string {
	for _, i := range b.ingresses {
		at, ok := i.reference("auth-tls-secret")
		if !ok || !slices.ContainsFunc(s.paths, func(p *path) bool { return p.ingress == i }) || b.certificates[at] == nil {
			continue
		}
		secret := b.certificates[at]
		signer := secret.name
		if secret.serves || secret.shown {
			signer = secret.ca
		}
		common := "windtunnel-client"
		if pattern, is := strings.CutPrefix(i.value("auth-tls-match-cn"), "CN="); is {
			if text, ok := regexample.Of(pattern); ok && text != "" {
				common = text
			}
		}
		b.extra[secret.client] = behave.Certificate{SignedBy: signer, CommonName: common, Namespace: behave.NoSecret}
		return secret.client
	}
	return ""
}

// stranger is the name of a client certificate that no authority has signed.
const stranger = "windtunnel-stranger"

// askClientCertificate asks without a certificate, with a self-signed one, and with a valid one.
func askClientCertificate(a *asker) {
	name := a.clientOf(a.site)
	if name == "" {
		return
	}
	a.extra[stranger] = behave.Certificate{CommonName: stranger, Namespace: behave.NoSecret}
	for _, certificate := range []string{"", stranger, name} {
		q := a.ask("GET", "https", a.site.host, a.target())
		q.step.TLS.Certificate = certificate
		q.look.pod = clientCertificateHeaders
	}
}

// addresses returns a client inside the first network of the lists, and one outside all of them.
func addresses(lists ...string) (inside, outside string, ok bool) {
	var networks []netip.Prefix
	for _, text := range list(strings.Join(lists, ",")) {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			address, err := netip.ParseAddr(text)
			if err != nil {
				continue
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		if network.Addr().Is4() {
			networks = append(networks, network.Masked())
		}
	}
	if len(networks) == 0 {
		return "", "", false
	}
	address := networks[0].Addr()
	if !networks[0].IsSingleIP() {
		address = address.Next()
	}
	for _, candidate := range []string{"203.0.113.77", "198.51.100.77", "192.0.2.77"} {
		if one := netip.MustParseAddr(candidate); !slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(one) }) {
			outside = candidate
			break
		}
	}
	return address.String(), outside, true
}

// askAddresses asks as a client inside the first network of a list, and as one outside all of them.
func askAddresses(a *asker) {
	for _, name := range []string{"allowlist-source-range", "whitelist-source-range", "denylist-source-range"} {
		if !a.i.has(name) {
			continue
		}
		inside, outside, ok := addresses(a.i.value(name))
		if !ok {
			a.get(a.target())
			continue
		}
		if !isTrue(a.config["use-proxy-protocol"]) && !isTrue(a.config["use-forwarded-headers"]) {
			a.notes.add("annotation/"+name, "tested from this machine only: without use-forwarded-headers and use-proxy-protocol, a client cannot have another address", a.i.object())
			a.get(a.target())
			continue
		}
		for _, address := range []string{inside, outside} {
			if address == "" {
				continue
			}
			q := a.get(a.target())
			q.look.pod = []string{"X-Real-Ip"}
			if q.step.Proxy != nil {
				q.step.Proxy.Source = address + ":4711"
			} else {
				q.header(a.forwardedFor(), address)
			}
		}
	}
}

// mostLimited is the largest rate and burst that is tested, in requests.
const mostLimited = 300

// askRate sends about twice as many requests at once as a client may send.
func askRate(a *asker) {
	about := "limit-rps"
	if !a.i.has(about) {
		about = "limit-rpm"
	}
	rate, why := limitOf(a.i.value(about))
	about = "annotation/" + about
	multiplier, err := strconv.Atoi(a.i.value("limit-burst-multiplier"))
	if err != nil || multiplier < 1 {
		multiplier = 5
	}
	burst := rate * multiplier
	if why == "" && (rate > mostLimited || burst > mostLimited) {
		why = fmt.Sprintf("not tested: a client may send %s at once, and at most %d are sent", plural.Of(burst, "request"), mostLimited)
	}
	if why != "" {
		a.notes.add(about, why, a.i.object())
		return
	}
	if a.copies(about) {
		return
	}
	q := a.get(a.target())
	q.together(2*burst + 2)
	q.look.served = burst + 1
	if a.i.has("limit-allowlist", "limit-whitelist") {
		a.notes.add("annotation/limit-allowlist", "tested as a client outside of it only", a.i.object())
	}
}

// limitOf reads the value of an annotation that limits a number, or returns why it limits nothing.
func limitOf(text string) (limit int, why string) {
	limit, err := strconv.Atoi(text)
	switch {
	case err != nil || limit < 0:
		return 0, fmt.Sprintf("not tested: %q is not a whole number", text)
	case limit == 0:
		return 0, "not tested: 0 is no limit"
	}
	return limit, ""
}

// copies reports whether the path has a mirror, and notes that the annotation is not tested in that case.
func (a *asker) copies(about string) bool {
	if !a.path.has("mirror-target") {
		return false
	}
	a.notes.add(about, "not tested: the copies of many requests at once cannot be attributed", a.i.object())
	return true
}

// slowMethod is the method of requests that pods answer late.
const slowMethod = "PATCH"

// mostConnected is the largest limit of connections that is tested.
const mostConnected = 50

// askConnections sends more simultaneous requests than a client may.
func askConnections(a *asker) {
	limit, why := limitOf(a.i.value("limit-connections"))
	switch {
	case why != "":
	case a.path.grpc():
		why = "not tested: pods that speak gRPC cannot answer late"
	case limit > mostConnected:
		why = fmt.Sprintf("not tested: %d connections take too long, at most %d are made", limit, mostConnected)
	}
	if why != "" {
		a.notes.add("annotation/limit-connections", why, a.i.object())
		return
	}
	if a.copies("annotation/limit-connections") {
		return
	}
	if !a.path.backend.rule(behave.Rule{Method: slowMethod, Answer: behave.Answer{After: slowness}}) {
		a.notes.add("annotation/limit-connections", "not tested: another annotation determines the answers of the pods", a.i.object())
		return
	}
	q := a.ask(slowMethod, a.site.scheme(), a.site.host, a.target())
	q.together(limit + 2)
	q.look.served = limit
}

// sizes are the units of nginx.
var sizes = map[byte]int64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30}

// size converts a size in nginx's notation to bytes.
func size(text string) (bytes int64, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return 0, false
	}
	unit, with := sizes[text[len(text)-1]]
	if with {
		text = text[:len(text)-1]
	} else {
		unit = 1
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return n * unit, err == nil && n >= 0
}

const (
	defaultBody = 1 << 20  // nginx's limit
	largestBody = 64 << 20 // the largest that is sent
)

// askBodySize asks with the largest permitted body, and with one that is a byte larger.
func askBodySize(a *asker) { a.bodies(a.i.value("proxy-body-size"), "annotation/proxy-body-size") }

func (a *asker) bodies(text, what string) {
	limit, ok := size(text)
	why := ""
	switch {
	case !ok:
		why = fmt.Sprintf("not tested: %q is not a size", text)
	case a.path.grpc():
		why = "not tested: requests to pods that speak gRPC have no large body"
	case limit > largestBody:
		why = "not tested: a body of " + text + " is too large to be sent"
	}
	if why != "" {
		a.notes.add(what, why, a.i.object())
		return
	}
	lengths := []int64{limit, limit + 1}
	if limit == 0 { // no limit
		lengths = []int64{defaultBody + 1}
	}
	for _, length := range lengths {
		a.ask("POST", a.site.scheme(), a.site.host, a.target()).step.Bytes = length
	}
}
