package derive

import (
	"math"
	"strconv"
	"strings"

	"windtunnel.dev/internal/regexample"
	"windtunnel.dev/sim/behave"
)

// mostRequests limits how often a request is sent to measure a share.
const mostRequests = 2000

// askCanary asks which requests go to the canary: by header, by cookie, and by chance.
func askCanary(a *asker) {
	if !a.i.on("canary") {
		a.get(a.target())
		return
	}
	header, cookie := a.i.value("canary-by-header"), a.i.value("canary-by-cookie")
	a.byHeader(header)
	if cookie != "" {
		for _, value := range []string{"always", "never", word} {
			q := a.concerning("canary-by-cookie").get(a.target()).without(header).header("Cookie", cookie+"="+value)
			a.toss(q, value == word)
		}
	}
	a.share(header)
}

// concerning returns an asker about the annotation canary and those with a prefix.
func (a *asker) concerning(prefix string) *asker {
	narrow := *a
	narrow.about = []string{"annotation/canary"}
	for _, about := range a.about {
		if strings.HasPrefix(about, "annotation/"+prefix) {
			narrow.about = append(narrow.about, about)
		}
	}
	return &narrow
}

// byHeader asks with the values of a header that select a service, and with another value.
func (a *asker) byHeader(header string) {
	if header == "" {
		return
	}
	values := []string{"always", "never", word}
	if value := a.i.value("canary-by-header-value"); value != "" {
		values = append([]string{value}, values...)
	} else if pattern := a.i.value("canary-by-header-pattern"); pattern != "" {
		if text, ok := regexample.Of(pattern); ok {
			values = append([]string{text}, values...)
		}
	}
	for n, value := range values {
		q := a.concerning("canary-by-header").get(a.target()).without("Cookie").header(header, value)
		a.toss(q, n >= len(values)-3 && !a.decides(value))
	}
}

// decides reports whether a value of the header determines where a request goes.
func (a *asker) decides(value string) bool {
	return !a.i.has("canary-by-header-value", "canary-by-header-pattern") && value != word
}

// toss marks a question whose answer comes from a random service: chance decides about the request,
// and the canary has a weight.
func (a *asker) toss(q *question, chance bool) {
	weight, total := a.weight()
	q.look.anyService = chance && weight > 0 && weight < total
}

func (a *asker) weight() (weight, total int) {
	weight, _ = strconv.Atoi(a.i.value("canary-weight"))
	if total, _ = strconv.Atoi(a.i.value("canary-weight-total")); total < 100 {
		total = 100
	}
	return weight, total
}

// share sends a request often enough to measure the share of the canary.
func (a *asker) share(header string) {
	if !a.i.has("canary-weight") {
		return
	}
	stable, canary := a.path.backend, a.backendOf(a.i)
	if canary == nil || stable.name == canary.name {
		a.notes.add("annotation/canary-weight", "not tested: the canary has the service of its main ingress", a.i.object())
		return
	}
	weight, total := a.weight()
	share := min(max(float64(weight)/float64(total), 0), 1)
	share = math.Round(share*1e6) / 1e6
	shares := map[string]float64{stable.name: 1 - share, canary.name: share}
	times, ok := behave.TimesFor(shares)
	if !ok || times > mostRequests || len(a.canaries(a.site, a.path)) > 1 {
		a.notes.add("annotation/canary-weight", "its share is not tested: it is too small to be checked, or there are several canaries", a.i.object())
		return
	}
	q := a.concerning("canary-weight").get(a.target()).without(header).without("Cookie")
	q.step.Times = times
	q.look.shares, q.look.anyService = shares, false
}

// backendOf returns the service of an ingress for the path, or nil.
func (a *asker) backendOf(i *ingress) *service {
	p := i.pathOf(a.site.pattern, a.path.text)
	if p == nil || p.Backend.Service == nil {
		return nil
	}
	return a.service(i.Namespace, p.Backend.Service.Name)
}
