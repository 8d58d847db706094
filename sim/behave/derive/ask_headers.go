package derive

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"windtunnel.dev/sim/behave"
)

func validHeader(name string) bool { return httpguts.ValidHeaderFieldName(name) }

func canonical(name string) string { return http.CanonicalHeaderKey(name) }

// corsHeaders are the headers that browsers read.
var corsHeaders = []string{
	"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Allow-Credentials",
	"Access-Control-Expose-Headers", "Access-Control-Max-Age", "Vary",
}

// otherOrigin is an origin that no list allows.
const otherOrigin = "https://windtunnel.invalid"

// askCORS asks as a browser does: first with a preflight request and then for the page, from an
// allowed origin and from another one.
func askCORS(a *asker) {
	origins := []string{otherOrigin}
	for _, origin := range list(a.i.value("cors-allow-origin")) {
		if origin = strings.ReplaceAll(origin, "*", word); strings.Contains(origin, "://") && httpguts.ValidHeaderFieldValue(origin) {
			origins = append([]string{origin}, origins...)
			break
		}
	}
	for _, origin := range origins {
		q := a.ask("OPTIONS", a.site.scheme(), a.site.host, a.target())
		q.header("Origin", origin).header("Access-Control-Request-Method", "PUT").header("Access-Control-Request-Headers", "X-Windtunnel")
		q.look.answer = corsHeaders
		q = a.get(a.target()).header("Origin", origin)
		q.look.answer = corsHeaders
	}
}

// askCustomHeaders asks for the headers in a ConfigMap.
func askCustomHeaders(a *asker) {
	at, ok := a.i.reference("custom-headers")
	if !ok {
		return
	}
	q := a.get(a.target())
	if found := a.cluster.configMaps[at]; found != nil {
		for name := range found.Data {
			if validHeader(name) {
				q.look.answer = append(q.look.answer, canonical(name))
			}
		}
		slices.Sort(q.look.answer)
	}
}

// askPod asks for the value of a header that the pod receives.
func askPod(header string) func(*asker) {
	return func(a *asker) { a.get(a.target()).look.pod = []string{header} }
}

func askHost(a *asker) { a.get(a.target()).look.host = true }

// askEverything asks for all headers, because a snippet may set any.
func askEverything(a *asker) {
	q := a.get(a.target())
	q.look.all, q.look.cookies = true, true
	a.notes.add(a.about[0], "tested with one request only: "+strings.TrimPrefix(aboutSnippets, "not tested: "), a.i.object())
}

// askPodCookie makes the pods set a cookie with the domain and the path that the annotations
// replace.
func askPodCookie(a *asker) {
	cookie := "windtunnel=1"
	if from, _, two := strings.Cut(a.i.value("proxy-cookie-domain"), " "); two {
		cookie += "; Domain=" + from
	}
	from, _, two := strings.Cut(a.i.value("proxy-cookie-path"), " ")
	if !two || !strings.HasPrefix(from, "/") {
		from = "/"
	}
	cookie += "; Path=" + from
	if !httpguts.ValidHeaderFieldValue(cookie) {
		return
	}
	pods := &a.path.backend.pods
	if _, taken := pods.Headers["Set-Cookie"]; taken {
		a.notes.add(a.about[0], "not tested: another annotation determines the cookies of the pods", a.i.object())
		return
	}
	if pods.Headers == nil {
		pods.Headers = map[string]behave.Values{}
	}
	pods.Headers["Set-Cookie"] = behave.Values{cookie}
	q := a.get(a.target())
	q.look.cookies = true
}

// askPodRedirect makes the pods redirect to the URL that the annotation replaces.
func askPodRedirect(a *asker) {
	from := a.i.value("proxy-redirect-from")
	if parsed, err := url.Parse(from); err != nil || from == "off" || from == "default" || from == "" || parsed.String() != from || strings.HasPrefix(from, "~") {
		from = "http://" + a.site.host + "/"
	}
	if a.path.grpc() || !a.path.backend.rule(behave.Rule{Method: "PUT", Answer: behave.Answer{Status: 302, Headers: map[string]behave.Values{"Location": {from + word}}}}) {
		a.notes.add(a.about[0], "not tested: another annotation determines the answers of the pods", a.i.object())
		return
	}
	a.ask("PUT", a.site.scheme(), a.site.host, a.target())
}
