package diff

import (
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/sim/behave"
)

// Effect is the effect of a difference on clients.
type Effect string

// The effects, the worst first.
const (
	Unreachable Effect = "unreachable" // no answer, a certificate that the client does not expect, or an error in place of a pod's answer
	Service     Effect = "service"     // another service answers, or one answers what the other side refuses
	Status      Effect = "status"
	Redirect    Effect = "redirect"
	Body        Effect = "body"
	Headers     Effect = "headers" // and cookies, and details of the connection
	Pod         Effect = "pod"     // only pods see it
	Other       Effect = "other"   // time, logs, reloads
)

// effects has each effect with its title, the worst first.
var effects = []struct {
	effect Effect
	title  string
}{
	{Unreachable, "not reachable"},
	{Service, "another service answers"},
	{Status, "another status"},
	{Redirect, "redirects elsewhere"},
	{Body, "another body"},
	{Headers, "other headers"},
	{Pod, "only pods see it"},
	{Other, "time, logs and reloads"},
}

func (e Effect) rank() int {
	for n, one := range effects {
		if one.effect == e {
			return n
		}
	}
	return len(effects)
}

// Title returns the effect in words.
func (e Effect) Title() string {
	if n := e.rank(); n < len(effects) {
		return effects[n].title
	}
	return string(e)
}

// byField maps fields of failures, by their prefixes, to effects. The first prefix that matches
// counts.
var byField = []struct {
	begins string
	effect Effect
}{
	{"answer", Unreachable}, {"failure", Unreachable}, {"TLS", Unreachable}, {"version of TLS", Unreachable},
	{"service", Service}, {"share of ", Service},
	{"status in the stapled OCSP response", Headers}, {"status", Status}, {"number of answers with status", Status},
	{"header Location", Redirect},
	{"body", Body},
	{"header ", Headers}, {"cookie ", Headers}, {"value of cookie", Headers}, {"Path of cookie", Headers}, {"Domain of cookie", Headers}, {"Expires of cookie", Headers},
	{"Max-Age of cookie", Headers}, {"SameSite of cookie", Headers}, {"Secure of cookie", Headers}, {"HttpOnly of cookie", Headers}, {"number of pods", Headers},
	{"cipher", Headers}, {"curve", Headers}, {"version of HTTP", Headers}, {"number of requests at the same time", Headers}, {"number of certificates", Headers}, {"resumption", Headers},
	{"pod that answered", Pod}, {"number of requests at", Pod},
}

// effectOf returns the effect of one value.
func effectOf(v Value) Effect {
	if strings.Contains(v.What, " at ") && !strings.HasPrefix(v.What, "number of ") { // of a request at a pod
		return Pod
	}
	for _, one := range byField {
		if strings.HasPrefix(v.What, one.begins) {
			return one.effect
		}
	}
	for _, ofPods := range []string{"method", "path", "host", "protocol", "parameter", "server name", "client certificate"} {
		if strings.HasPrefix(v.What, ofPods) {
			return Pod
		}
	}
	return Other
}

// felt returns the effect of a step that differs: the worst effect of its values. If a pod answers
// one side but not the other, the status determines whether the difference is an error or a
// redirect.
func felt(values []Value) Effect {
	worst := Other
	status := Value{}
	for _, v := range values {
		if v.What == "status" {
			status = v
		}
	}
	for _, v := range values {
		effect := effectOf(v)
		if v.What == "service" && v.B == behave.None {
			switch code, err := strconv.Atoi(status.B); {
			case err == nil && code >= 400:
				effect = Unreachable
			case err == nil && code >= 300:
				effect = Status
			}
		}
		if effect.rank() < worst.rank() {
			worst = effect
		}
	}
	return worst
}

// causes narrows the settings that a step is about to those that can explain the values.
func causes(about []string, values []Value) []string {
	narrow := []string{}
	for _, v := range values {
		for _, cause := range causesOf(about, v) {
			if !slices.Contains(narrow, cause) {
				narrow = append(narrow, cause)
			}
		}
	}
	return narrow
}

// byHeader maps prefixes of headers to prefixes of the annotations that set them.
var byHeader = []struct{ header, annotation string }{
	{"Access-Control-", "annotation/cors-"},
	{"Www-Authenticate", "annotation/auth-realm"},
}

// causesOf returns the causes that can explain a value. Host, path and backend of an ingress cannot explain a
// header.
func causesOf(about []string, v Value) []string {
	if strings.HasPrefix(v.What, "TLS") && slices.Contains(about, behave.FieldPrefix+"tls") {
		return []string{behave.FieldPrefix + "tls"}
	}
	name, isHeader := strings.CutPrefix(v.What, "header ")
	if !isHeader || name == "Location" {
		return about
	}
	for _, one := range byHeader {
		if rest, fits := strings.CutPrefix(name, one.header); fits {
			if cause := one.annotation + strings.ToLower(rest); slices.Contains(about, cause) {
				return []string{cause}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(about), func(one string) bool { return strings.HasPrefix(one, behave.FieldPrefix) })
}
