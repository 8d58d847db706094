package behave

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/specfile"
)

var (
	requestFields  = specfile.Fields(reflect.TypeFor[Request]())
	failures       = []string{"refused", "closed", "reset", "ended", "timeout", "tls"}
	podProtocols   = []string{"HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "FastCGI"}
	ofChanges      = []string{"reload", "rejected", "error-log"}                      // fields of Expect that a change can fulfil
	withoutAnswers = []string{"fails", "received", "took", "access-log", "error-log"} // fields of Expect that go with fails
)

// expect checks what a step expects.
func (c *checker) expect(step Step, e Expect, path []any) {
	asks := step.Request.Request != ""
	fields := set(e)
	if len(fields) == 0 && (asks || given(c, path[:len(path)-1], path[len(path)-1].(string))) {
		c.Problem(fmt.Sprintf("%v: checks nothing", path[len(path)-1]), "say what must hold, such as {status: 200, service: web}", path...)
	}
	for _, field := range fields {
		at := below(path, field)
		switch {
		case !asks && !slices.Contains(ofChanges, field):
			c.Problem(field+": belongs to a request", "remove it", at...)
		case asks && slices.Contains(ofChanges[:2], field):
			c.Problem(field+": belongs to a change", "move it to the step that changes something", at...)
		case slices.Contains(failures, e.Fails) && !slices.Contains(withoutAnswers, field):
			c.Problem(fmt.Sprintf("%s: there is no answer, because fails: %s", field, e.Fails), "remove one of the two", at...)
		}
	}
	if e.Rejected != nil && !asks && step.Apply == "" {
		c.Problem("rejected: belongs to apply:", "remove it", below(path, "rejected")...)
	}
	for i, status := range e.Status {
		c.statusAt(status, len(e.Status) > 1, i, below(path, "status"))
	}
	c.matches(reflect.ValueOf(e), path)
	c.headerNames(sorted(e.Headers), below(path, "headers")...)
	c.otherHeaders(e.OtherHeaders, below(path, "other-headers"))
	c.oneOf(e.Fails, "failure", failures, below(path, "fails")...)
	c.oneOf(e.HTTP, "HTTP version", httpVersions, below(path, "http")...)
	if given(c, path, "max-streams") && e.MaxStreams < 1 {
		c.Problem(fmt.Sprintf("max-streams: %d", e.MaxStreams), "write 1 or more", below(path, "max-streams")...)
	}
	c.services(step, e, path)
	c.serverTLS(step, e, below(path, "tls"))
	c.took(e.Took, below(path, "took"))
	c.several(step, e, path)
	c.lines(e.AccessLog, below(path, "access-log"))
	c.lines(e.ErrorLog, below(path, "error-log"))
}

func (c *checker) statusAt(status int, listed bool, i int, path []any) {
	if _, node := c.At.Find(path...); listed && len(node.Content) > i {
		path = below(path, i)
	}
	c.status(status, path...)
}

// set returns the names of the fields that are given.
func set(e Expect) []string {
	var fields []string
	value := reflect.ValueOf(e)
	for i, name := range specfile.Fields(value.Type()) {
		field := value.Field(i)
		if empty := field.Kind() == reflect.Map && field.Len() == 0; !empty && !field.IsZero() {
			fields = append(fields, name)
		}
	}
	return fields
}

// matches checks the patterns of all conditions on texts in a value.
func (c *checker) matches(value reflect.Value, path []any) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			c.matches(value.Elem(), path)
		}
	case reflect.Map:
		if value.Type().Key().Kind() != reflect.String {
			return
		}
		keys := slices.SortedFunc(slices.Values(value.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			c.matches(value.MapIndex(key), below(path, key.String()))
		}
	case reflect.Slice:
		for i := range value.Len() {
			c.matches(value.Index(i), below(path, i))
		}
	case reflect.Struct:
		if m, ok := value.Interface().(Match); ok {
			c.pattern(m.Matches, below(path, "matches")...)
			return
		}
		for i, name := range specfile.Fields(value.Type()) {
			c.matches(value.Field(i), below(path, name))
		}
	}
}

// services checks which pods answer, and what pods receive.
func (c *checker) services(step Step, e Expect, path []any) {
	if e.Service != "" && e.Service != None {
		c.service(e.Service, below(path, "service")...)
	}
	if e.Pod != nil {
		at := below(path, "pod")
		if e.Service == None {
			c.Problem("pod: no pod answered, because service: none", "remove one of the two", at...)
		}
		c.received(*e.Pod, e.Service, at)
		if reflect.ValueOf(*e.Pod).IsZero() {
			c.Problem("pod: checks nothing", "say what the pod received, or remove it", at...)
		}
	}
	if given(c, path, "received") && len(e.Received) == 0 {
		c.Problem("received: names no service", "write received: {SERVICE: []} if it receives nothing", below(path, "received")...)
	}
	if len(e.Received) > 0 && step.Together {
		c.Problem("received: together: makes it unclear which request a pod received", "remove one of the two", below(path, "received")...)
	}
	for _, name := range sorted(e.Received) {
		at := below(path, "received", name)
		c.service(name, at...)
		for i, r := range e.Received[name] {
			c.received(r, name, below(at, i))
		}
	}
}

func (c *checker) otherHeaders(names *[]string, path []any) {
	if names == nil {
		return
	}
	for i, name := range *names {
		if !httpguts.ValidHeaderFieldName(name) {
			c.Problem(fmt.Sprintf("%q is not the name of a header", name), "use letters, digits and dashes", below(path, i)...)
		}
	}
}

func (c *checker) received(r Received, service string, path []any) {
	c.headerNames(sorted(r.Headers), below(path, "headers")...)
	c.otherHeaders(r.OtherHeaders, below(path, "other-headers"))
	for _, name := range sorted(r.Headers) {
		if strings.EqualFold(name, "host") {
			c.Problem("header Host has its own field", "write host: instead", below(path, "headers", name)...)
		}
	}
	c.oneOf(r.Protocol, "protocol", podProtocols, below(path, "protocol")...)
	pods, ok := c.Pods[service]
	if !ok {
		return
	}
	if fastcgi := pods.Protocol == "fastcgi"; len(r.Params) > 0 && !fastcgi {
		c.Problem("params: only FastCGI requests have parameters", "remove it, or add protocol: fastcgi to the pods of "+service, below(path, "params")...)
	}
	ofTLS := map[string]bool{
		"sni": r.SNI != nil, "client-certificate": r.ClientCertificate != nil, "tls-version": r.TLSVersion != "", "tls-cipher": r.TLSCipher != nil,
	}
	for _, key := range sorted(ofTLS) {
		if ofTLS[key] && !secure(pods.Protocol) {
			c.Problem(key+": the pods of "+service+" do not speak TLS", "remove it, or add protocol: https to them", below(path, key)...)
		}
	}
	c.oneOf(r.TLSVersion, "TLS version", tlsVersions, below(path, "tls-version")...)
	if r.Nth < 0 || r.Nth > 0 && pods.Protocol == "fastcgi" {
		c.Problem(fmt.Sprintf("nth: %d", r.Nth), "write 1 or more, and remove it if the pods speak FastCGI", below(path, "nth")...)
	}
}

func (c *checker) serverTLS(step Step, e Expect, path []any) {
	if e.TLS == nil {
		return
	}
	if strings.Contains(step.Request.Request, " http://") {
		c.Problem("tls: with an http URL", "write https in the request, or remove tls", path...)
	}
	if reflect.ValueOf(*e.TLS).IsZero() {
		c.Problem("tls: checks nothing", "say what the client sees, or remove it", path...)
	}
	if name := e.TLS.Certificate; name != "" && name != Default {
		c.certificateNamed(name, false, below(path, "certificate")...)
	}
	c.oneOf(e.TLS.Version, "TLS version", tlsVersions, below(path, "version")...)
	c.oneOf(e.TLS.OCSP, "OCSP status", ocspStatuses, below(path, "ocsp")...)
	if e.TLS.Chain < 0 {
		c.Problem(fmt.Sprintf("chain: %d", e.TLS.Chain), "make it 1 or more", below(path, "chain")...)
	}
}

func (c *checker) took(r *Range, path []any) {
	if r == nil {
		return
	}
	c.notNegative(r.Min, below(path, "min")...)
	c.notNegative(r.Max, below(path, "max")...)
	switch {
	case *r == Range{}:
		c.Problem("took: checks nothing", "add min: or max:", path...)
	case r.Max > 0 && r.Min > r.Max:
		c.Problem(fmt.Sprintf("took: min %v is above max %v", r.Min, r.Max), "swap the two", path...)
	}
}

// several checks expectations of several answers.
func (c *checker) several(step Step, e Expect, path []any) {
	for _, field := range []struct {
		key string
		is  bool
	}{{"shares", len(e.Shares) > 0}, {"statuses", len(e.Statuses) > 0}, {"same-pod", e.SamePod != nil}, {"resumes", e.TLS != nil && e.TLS.Resumes != nil}} {
		if field.is && step.Times < 2 {
			c.Problem(field.key+": needs several answers", "add times: to the request", below(path, field.key)...)
		}
	}
	if e.TLS != nil && e.TLS.Resumes != nil && (step.KeepAlive || step.Together) {
		c.Problem("resumes: needs one connection after another", "remove keep-alive: and together:", below(path, "tls", "resumes")...)
	}
	c.shares(step, e, below(path, "shares"))
	least := 0
	for _, status := range sorted(e.Statuses) {
		c.status(status, below(path, "statuses", fmt.Sprint(status))...)
		if count := e.Statuses[status]; count.Min != nil {
			least += *count.Min
		}
	}
	switch {
	case len(e.Statuses) > 0 && e.Status != nil:
		c.Problem("both status: and statuses:", "keep one of the two", below(path, "statuses")...)
	case least > max(step.Times, 1):
		c.Problem(fmt.Sprintf("statuses: %s to %s", plural.Of(least, "answer"), plural.Of(max(step.Times, 1), "request")), "lower the counts, or send more requests", below(path, "statuses")...)
	}
}

func (c *checker) shares(step Step, e Expect, path []any) {
	if len(e.Shares) == 0 {
		return
	}
	if e.Service != "" {
		c.Problem("both service: and shares:", "keep one of the two", path...)
	}
	sum, valid := 0.0, true
	for _, name := range sorted(e.Shares) {
		c.service(name, below(path, name)...)
		share := e.Shares[name]
		if !(share >= 0 && share <= 1) {
			valid = false
			c.Problem(fmt.Sprintf("%v is not a share", share), "write a number from 0 to 1", below(path, name)...)
		}
		sum += share
	}
	if !valid {
		return
	}
	if math.Abs(sum-1) > 0.001 {
		c.Problem(fmt.Sprintf("the shares add up to %.4g", sum), "make it 1", path...)
		return
	}
	switch needed := enough(e.Shares); {
	case step.Times < 2: // reported already
	case needed > mostTimes:
		c.Problem("a share too small to be checked", fmt.Sprintf("write larger ones: even %d requests cannot distinguish them from half as much", mostTimes), path...)
	case step.Times < needed:
		c.Problem(fmt.Sprintf("%d requests cannot distinguish these shares from half as much", step.Times), fmt.Sprintf("make times: %d or more", needed), path...)
	}
}

func (c *checker) lines(l *Lines, path []any) {
	if l == nil {
		return
	}
	if *l == (Lines{}) {
		c.Problem(fmt.Sprintf("%v: checks nothing", path[len(path)-1]), "add matches: or count:", path...)
	}
	c.pattern(l.Matches, below(path, "matches")...)
}
