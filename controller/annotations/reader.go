package annotations

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/options"
)

// reader passes the validated values of a family's keys to its parse function. The key defines how
// a bad value is handled; the parse function gets the default.
type reader struct {
	given   map[string]string // without the prefix
	ingress *networkingv1.Ingress
	prefix  string // of the annotations, without the slash
	options *options.Options

	family   *Family
	denied   *string
	rejected error
	problems []Problem
}

// text returns the value of a key, or otherwise.
func (r *reader) text(name, otherwise string) string {
	value, ok := r.value(name)
	if !ok {
		return otherwise
	}
	return value
}

// allowed returns the value of a key whose Bad is AllowsNothing: empty if the value is bad.
func (r *reader) allowed(name, otherwise string) string {
	if r.isBad(name) {
		return ""
	}
	return r.text(name, otherwise)
}

// isBad reports whether a key has a bad value.
func (r *reader) isBad(name string) bool {
	text, _ := r.raw(r.key(name))
	return text != "" && !r.has(name)
}

// flag returns the value of a key whose Want is Boolean.
func (r *reader) flag(name string, otherwise bool) bool {
	if on := r.choice(name); on != nil {
		return *on
	}
	return otherwise
}

// choice returns the value of a key whose Want is Boolean; nil if there is none.
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

// ProbablyTrue reports whether a Boolean annotation was probably meant to be true. A bad value
// counts as true. It is for an ingress that may be rejected because of that value.
func ProbablyTrue(value string) bool {
	on, err := strconv.ParseBool(strings.TrimSpace(value))
	return on || err != nil && strings.TrimSpace(value) != ""
}

// number returns the value of a key whose Want is a number.
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

// atMost returns the value of a key whose Want is a number, limited to most. Larger values only
// cost memory or time.
func (r *reader) atMost(most int, name string, otherwise int) int {
	number := r.number(name, otherwise)
	if number > most {
		r.note(name, fmt.Sprintf("it is above the limit of %d; %d is used", most, most))
		return most
	}
	return number
}

// list returns the items of a key, split at commas, without empty items.
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

// reference returns the object that a key names, as namespace/name. It returns "" if there is none,
// or if the ingress may not refer to it. A name alone is in the ingress's namespace, unless
// wantsBoth requires namespace and name.
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
		r.deny(name, "want namespace/name")
		return ""
	case namespace != r.ingress.Namespace && !r.options.Config.AllowCrossNamespaceResources:
		r.deny(name, "other namespaces may not be named (allow-cross-namespace-resources)")
		return ""
	}
	return namespace + "/" + object
}

// snippet returns a text for nginx.conf; empty unless the ConfigMap allows snippets.
func (r *reader) snippet(name string) string {
	value, ok := r.value(name)
	if ok && !r.options.Config.AllowSnippetAnnotations {
		r.ignore(name, "allow-snippet-annotations is not true")
		return ""
	}
	return value
}

// has reports whether a key has a good value.
func (r *reader) has(name string) bool {
	_, ok := r.value(name)
	return ok
}

// value returns the good value of a key. It trims each line, as ingress-nginx does. An empty value
// counts as absent.
func (r *reader) value(name string) (string, bool) {
	key := r.key(name)
	text, ok := r.raw(key)
	switch {
	case !ok:
		return "", false
	case text == "":
		r.ignore(name, "it is empty")
		return "", false
	case key.Want.ok != nil && key.Want.tooLong(text) != "": // applies without validation, too, because nginx could not read the text
		r.bad(name, key.Want.tooLong(text))
		return "", false
	case key.Want.ok == nil || key.Want.ok(text):
		return text, true
	case r.options.SkipAnnotationValidation && key.Bad != DeniesRequest && staysInDirective(text): // validation that denies requests cannot be skipped
		return text, true
	}
	r.bad(name, "want "+key.Want.Text)
	return "", false
}

// staysInDirective reports whether a text can neither end a parameter of nginx.conf nor start a
// block or a comment.
func staysInDirective(text string) bool {
	return !strings.ContainsFunc(text, func(char rune) bool { return char < ' ' || char == 0x7f || strings.ContainsRune("\"';{}#\\`", char) })
}

// raw returns the given text of a key.
func (r *reader) raw(key Key) (string, bool) {
	text, ok := r.given[r.written(key)]
	return trimLines(text), ok
}

// written returns the name that the ingress uses for a key: an alias if the key's own name has no
// value.
func (r *reader) written(key Key) string {
	if r.given[key.Name] == "" {
		for _, alias := range key.Aliases {
			if _, given := r.given[alias]; given {
				return alias
			}
		}
	}
	return key.Name
}

// key returns a row of the family's own table. A family does not read the keys of other families.
func (r *reader) key(name string) Key {
	i := slices.IndexFunc(r.family.Keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("annotations: family %s has no key %s", r.family.Name, name)) // a defect of the family; its golden file test finds it
	}
	return r.family.Keys[i]
}

// bad handles a bad value as the key specifies, and records a problem.
func (r *reader) bad(name, reason string) {
	switch r.key(name).Bad {
	case UsesDefault:
		r.ignore(name, reason)
	case AllowsNothing:
		r.note(name, reason+"; it allows nothing")
	case DeniesRequest:
		r.deny(name, reason)
	case RejectsAll:
		if r.rejected == nil {
			value, _ := r.raw(r.key(name))
			r.rejected = fmt.Errorf("annotation %s: %s: %s; the ingress is rejected", r.full(name), shown(value), reason)
		}
	}
}

// ignore records that a value has no effect.
func (r *reader) ignore(name, reason string) { r.note(name, reason+"; it is ignored") }

// deny makes the locations of the ingress respond with 503, and records a problem. It keeps only
// the first reason.
func (r *reader) deny(name, reason string) {
	r.note(name, reason+"; its requests get 503")
	if r.denied == nil {
		r.denied = new(fmt.Sprintf("annotation %s: %s", r.full(name), reason))
	}
}

// note records a problem with a key. It keeps only the first one per key.
func (r *reader) note(name, reason string) {
	key := r.full(name)
	if slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Key == key }) {
		return
	}
	value, _ := r.raw(r.key(name))
	r.problems = append(r.problems, Problem{Key: key, Reason: shown(value) + ": " + reason})
}

// full returns a key as the ingress writes it.
func (r *reader) full(name string) string { return r.prefix + "/" + r.written(r.key(name)) }

func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// shown formats a value for users.
func shown(value string) string {
	if len(value) > 100 {
		return strconv.Quote(value[:100]) + "…"
	}
	return strconv.Quote(value)
}
