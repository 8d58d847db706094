package annotations

import (
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
	given   map[string]string // without the prefix
	ingress *networkingv1.Ingress
	options options.Options

	family   *Family
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

// allowed is the value of a key whose Bad is AllowsNothing: empty if it is bad.
func (r *reader) allowed(name, otherwise string) string {
	if r.isBad(name) {
		return ""
	}
	return r.text(name, otherwise)
}

// isBad reports whether a key has a value, but not a good one.
func (r *reader) isBad(name string) bool {
	text, _ := r.raw(r.key(name))
	return text != "" && !r.has(name)
}

// flag is the value of a key whose Want is Boolean.
func (r *reader) flag(name string, otherwise bool) bool {
	if on := r.choice(name); on != nil {
		return *on
	}
	return otherwise
}

// choice is the value of a key whose Want is Boolean; nil if there is none.
func (r *reader) choice(name string) *bool {
	value, ok := r.value(name)
	if !ok {
		return nil
	}
	on, err := strconv.ParseBool(value)
	if err != nil {
		r.bad(name, "want true or false")
		return nil
	}
	return &on
}

// Says tells whether a Boolean was meant to be true, of an ingress that may be
// refused for it: a bad value says so.
func Says(value string) bool {
	on, err := strconv.ParseBool(strings.TrimSpace(value))
	return on || err != nil && strings.TrimSpace(value) != ""
}

// number is the value of a key whose Want is a number.
func (r *reader) number(name string, otherwise int) int {
	value, ok := r.value(name)
	if !ok {
		return otherwise
	}
	number, err := strconv.Atoi(value)
	if err != nil {
		r.bad(name, "want a whole number")
		return otherwise
	}
	return number
}

// atMost returns the value of a key whose Want is a number, but at most most, because
// larger values only cost memory or time.
func (r *reader) atMost(most int, name string, otherwise int) int {
	number := r.number(name, otherwise)
	if number > most {
		r.note(name, fmt.Sprintf("it is above the limit of %d; %d is used", most, most))
		return most
	}
	return number
}

// list is the items of a key, split at commas; empty ones vanish.
func (r *reader) list(name string) []string {
	var items []string
	text, _ := r.value(name)
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// reference is the object that a key names, as namespace/name; empty if there
// is none, or none that may be named. A name alone is one of the ingress's
// namespace, unless the key wants both.
func (r *reader) reference(name string, wantsBoth bool) string {
	value, ok := r.value(name)
	if !ok {
		return ""
	}
	namespace, object, both := strings.Cut(value, "/")
	if !both && !wantsBoth {
		namespace, object = r.ingress.Namespace, value
	}
	switch {
	case namespace == "" || object == "" || strings.Contains(object, "/"):
		r.refuse(name, "want namespace/name")
		return ""
	case namespace != r.ingress.Namespace && !r.options.Config.AllowCrossNamespaceResources:
		r.refuse(name, "other namespaces may not be named (allow-cross-namespace-resources)")
		return ""
	}
	return namespace + "/" + object
}

// snippet is a text for nginx.conf, empty unless the ConfigMap allows such.
func (r *reader) snippet(name string) string {
	value, ok := r.value(name)
	if ok && !r.options.Config.AllowSnippetAnnotations {
		r.ignore(name, "allow-snippet-annotations is not true")
		return ""
	}
	return value
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
	switch {
	case !ok:
		return "", false
	case text == "":
		r.ignore(name, "it is empty")
		return "", false
	case key.Want.ok != nil && key.Want.tooLong(text) != "": // also without validation, because nginx could not read it
		r.bad(name, key.Want.tooLong(text))
		return "", false
	case key.Want.ok == nil || key.Want.ok(text):
		return text, true
	case r.options.SkipAnnotationValidation && key.Bad != DeniesRequest && staysInDirective(text): // parsing denies requests, so it cannot be skipped
		return text, true
	}
	r.bad(name, "want "+key.Want.Text)
	return "", false
}

// staysInDirective reports whether a text can neither end a parameter of nginx.conf
// nor start a block or a comment.
func staysInDirective(text string) bool {
	return !strings.ContainsFunc(text, func(char rune) bool { return char < ' ' || char == 0x7f || strings.ContainsRune("\"';{}#\\`", char) })
}

// raw is what is given for a key, or for its alias when that is nothing.
func (r *reader) raw(key Key) (string, bool) {
	text, ok := r.given[key.Name]
	for i := 0; text == "" && i < len(key.Aliases); i++ {
		if other, given := r.given[key.Aliases[i]]; given {
			text, ok = other, true
		}
	}
	if !ok {
		return "", false
	}
	return trimLines(text), true
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
func (r *reader) bad(name, reason string) {
	switch r.key(name).Bad {
	case UsesDefault:
		r.ignore(name, reason)
	case AllowsNothing:
		r.note(name, reason+"; it allows nothing")
	case DeniesRequest:
		r.refuse(name, reason)
	case RejectsAll:
		if r.rejected == nil {
			value, _ := r.raw(r.key(name))
			r.rejected = fmt.Errorf("annotation %s: %s: %s; the ingress is rejected", r.full(name), shown(value), reason)
		}
	}
}

// ignore notes that a value has no effect.
func (r *reader) ignore(name, reason string) { r.note(name, reason+"; it is ignored") }

// refuse has the ingress's locations answer 503, and notes it. The first
// reason stands.
func (r *reader) refuse(name, reason string) {
	r.note(name, reason+"; its requests get 503")
	if r.denied == nil {
		r.denied = new(fmt.Sprintf("annotation %s: %s", r.full(name), reason))
	}
}

// note keeps the first finding about a key.
func (r *reader) note(name, reason string) {
	key := r.full(name)
	if slices.ContainsFunc(r.findings, func(f Finding) bool { return f.Key == key }) {
		return
	}
	value, _ := r.raw(r.key(name))
	r.findings = append(r.findings, Finding{Key: key, Reason: shown(value) + ": " + reason})
}

// full is a key as users write it.
func (r *reader) full(name string) string { return r.options.AnnotationsPrefix + "/" + name }

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
