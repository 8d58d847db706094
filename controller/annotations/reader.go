package annotations

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/options"
)

// reader gives a family's parse function the values of its keys, checked. What
// a bad value does is the key's to say; parse functions see the default.
type reader struct {
	given     map[string]string
	namespace string
	ingress   *networkingv1.Ingress
	options   options.Options

	family   *Family
	dropped  bool
	denied   *string
	rejected error
	findings []Finding
}

// text is the value of a key, or otherwise.
func (r *reader) text(name, otherwise string) string {
	value, ok := r.value(name)
	if !ok {
		return otherwise
	}
	return value
}

// flag is the value of a key whose Want is Boolean.
func (r *reader) flag(name string, otherwise bool) bool {
	value, ok := r.value(name)
	if !ok {
		return otherwise
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		r.bad(name, err)
		return otherwise
	}
	return on
}

// number is the value of a key whose Want is a number.
func (r *reader) number(name string, otherwise int) int {
	value, ok := r.value(name)
	if !ok {
		return otherwise
	}
	number, err := strconv.Atoi(value)
	if err != nil {
		r.bad(name, errors.New("want a whole number"))
		return otherwise
	}
	return number
}

// has tells whether a key has a good value.
func (r *reader) has(name string) bool {
	_, ok := r.value(name)
	return ok
}

// value is the good value of a key: each line of it trimmed, as ingress-nginx
// has it. An empty one is none.
func (r *reader) value(name string) (string, bool) {
	key := r.key(name)
	text, ok := r.raw(key)
	if !ok {
		return "", false
	}
	if text == "" {
		r.bad(name, errors.New("it is empty"))
		return "", false
	}
	if key.Want.ok == nil || r.options.SkipAnnotationValidation {
		return text, true
	}
	if !key.Want.ok(text) {
		r.bad(name, errors.New("want "+key.Want.Text))
		return "", false
	}
	return text, true
}

// raw is what is given for a key, or for its alias when that is not.
func (r *reader) raw(key Key) (string, bool) {
	for _, name := range append([]string{key.Name}, key.Aliases...) {
		if text, ok := r.given[r.options.AnnotationsPrefix+"/"+name]; ok {
			return trimLines(text), true
		}
	}
	return "", false
}

// key is a row of the family's own table: a family reads no other's keys.
func (r *reader) key(name string) Key {
	i := slices.IndexFunc(r.family.Keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("annotations: family %s has no key %s", r.family.Name, name)) // a defect of the family, met by its golden
	}
	return r.family.Keys[i]
}

// bad does what the key says of a bad value, and notes it.
func (r *reader) bad(name string, reason error) {
	key := r.key(name)
	value, _ := r.raw(key)
	finding := Finding{Key: r.options.AnnotationsPrefix + "/" + name, Reason: fmt.Sprintf("%s: %v", shown(value), reason)}
	if slices.ContainsFunc(r.findings, func(f Finding) bool { return f.Key == finding.Key }) {
		return
	}
	switch key.Bad {
	case UsesDefault:
		finding.Reason += "; it is ignored"
	case DropsFamily:
		r.dropped = true
		finding.Reason += fmt.Sprintf("; all annotations about %s are ignored", r.family.Name)
	case DeniesRequest:
		finding.Reason += "; its requests get 503"
		r.deny(fmt.Sprintf("annotation %s: %v", finding.Key, reason))
	case RejectsAll:
		if r.rejected == nil {
			r.rejected = fmt.Errorf("annotation %s: %s; the ingress is not taken", finding.Key, finding.Reason)
		}
	}
	r.findings = append(r.findings, finding)
}

// deny has the ingress's locations answer 503. The first reason stands.
func (r *reader) deny(reason string) {
	if r.denied == nil {
		r.denied = &reason
	}
}

func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// shown is a value for people to read.
func shown(value string) string {
	if len(value) > 100 {
		return strconv.Quote(value[:100]) + "…"
	}
	return strconv.Quote(value)
}
