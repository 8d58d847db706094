// Package annotations parses the annotations of an ingress. It stands between their texts and the
// model, which contains typed values only. Its one rule: a family of annotations is one file, with
// its table of keys, its type and its parse function. Nothing is looked up: if an annotation names
// an object (a Secret, a ConfigMap, a Service), the result contains only the name.
//
// Names, defaults, formats and risks are those of ingress-nginx.
package annotations

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/options"
)

// DefaultPrefix precedes the names of all keys (--annotations-prefix).
const DefaultPrefix = "nginx.ingress.kubernetes.io"

// Key is one annotation: a row in the table of its family.
type Key struct {
	Name    string // without the prefix
	Aliases []string
	Doc     string
	Risk    Risk
	Scope   Scope
	Want    Want // the format of valid values
	Bad     Bad  // what happens if the value is invalid
	Secret  bool // the value names a Secret, and changes of the Secret need a sync

	// Protects is the protection that the annotation is part of, or Harmless. To choose, ask
	// whether a version of an ingress without the annotation would protect less.
	Protects *Protection
	// TurnsOn means that the annotation, alone or with others, turns the protection on. A
	// protection that no annotation turns on is always on: a version without its annotations may
	// protect more or less than one with them.
	TurnsOn bool
}

// Family is a group of annotations that together set one option struct.
type Family struct {
	Name  string
	Keys  []Key
	parse func(*reader, *Set)
}

// Risk is the power that an annotation gives to the author of an ingress. A controller accepts
// annotations up to its annotations-risk-level.
type Risk int

// The risks, from low to high.
const (
	Low Risk = iota
	Medium
	High
	Critical
)

func (r Risk) String() string { return [...]string{"Low", "Medium", "High", "Critical"}[r] }

// RiskOf parses annotations-risk-level in any letter case. As in ingress-nginx, an unknown text is
// Low.
func RiskOf(text string) Risk {
	for _, risk := range []Risk{Medium, High, Critical} {
		if strings.EqualFold(risk.String(), text) {
			return risk
		}
	}
	return Low
}

// Scope is the object that an annotation applies to.
type Scope string

// The scopes.
const (
	OfLocation Scope = "location"
	OfServer   Scope = "server"         // the oldest ingress of a host takes precedence
	OfBackend  Scope = "backend"        // the oldest ingress that refers to a port of a service takes precedence
	OfCanary   Scope = "canary backend" // of a canary ingress
	OfBoth     Scope = "server and location"
	OfAll      Scope = "configuration"
)

// Bad is the handling of a bad value.
type Bad int

// The ways to handle a bad value, from mild to severe.
const (
	UsesDefault   Bad = iota // as if the annotation were absent
	DropsItems               // bad items are removed from the list, even if no item is left
	AllowsNothing            // denies what the annotation would allow
	DeniesRequest            // the locations of the ingress respond with 503
	RejectsAll               // the ingress is rejected; its earlier version stays if it protects at least as much
)

func (b Bad) String() string {
	return [...]string{"it is ignored", "invalid items are dropped", "it allows nothing", "requests get 503", "the ingress is rejected"}[b]
}

// Problem describes an annotation that has no effect, or not exactly the requested effect.
type Problem struct {
	Key    string // with the prefix
	Reason string // what is wrong, and what the controller does instead
}

// Parse parses the annotations of an ingress, in the order of the families. An error rejects the
// whole ingress: it names the annotation and gives the reason.
func Parse(ingress *networkingv1.Ingress, opts options.Options) (Set, []Problem, error) {
	var set Set
	problems, err := ParseTo(&set, ingress, &opts)
	return set, problems, err
}

// ParseTo is Parse without copies of the set and the options, which are large. The caller passes a
// zero set; it is also zero after an error.
func ParseTo(set *Set, ingress *networkingv1.Ingress, opts *options.Options) ([]Problem, error) {
	prefix := prefixOf(opts)
	given := ours(ingress.Annotations, prefix+"/")
	if err := acceptable(given, prefix, opts); err != nil {
		return nil, err
	}
	r := reader{given: given, prefix: prefix, options: opts, ingress: ingress}
	for i := range families {
		family := &families[i]
		r.family = family
		family.parse(&r, set)
		if r.rejected != nil {
			*set = Set{}
			return nil, r.rejected
		}
	}
	set.Denied = r.denied
	return append(r.problems, unknown(given, prefix)...), nil
}

func prefixOf(opts *options.Options) string { return cmp.Or(opts.AnnotationsPrefix, DefaultPrefix) }

// Given reports whether an ingress has annotations with the prefix. All ingresses without any have
// equal sets.
func Given(ingress *networkingv1.Ingress, opts *options.Options) bool {
	prefix := prefixOf(opts) + "/"
	for name := range ingress.Annotations {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var fingerprints = maphash.MakeSeed()

// Fingerprint returns a hash of the annotations with the prefix; 0 without any. Within a process,
// ingresses with the same annotations have the same hash.
func Fingerprint(ingress *networkingv1.Ingress, opts *options.Options) uint64 {
	prefix, sum := prefixOf(opts)+"/", uint64(0)
	for name, value := range ingress.Annotations {
		if strings.HasPrefix(name, prefix) {
			sum += maphash.Comparable(fingerprints, [2]string{name, value}) // a sum, because maps have no order
		}
	}
	return sum
}

// ours returns the annotations whose keys begin with prefix, with the prefix removed.
func ours(all map[string]string, prefix string) map[string]string {
	var short map[string]string
	for name, value := range all {
		if name, ours := strings.CutPrefix(name, prefix); ours {
			if short == nil {
				short = make(map[string]string, len(all))
			}
			short[name] = value
		}
	}
	return short
}

// acceptable returns an error if an annotation is too risky or contains a blocklisted word, which
// rejects the whole ingress. The error names the annotation.
func acceptable(given map[string]string, prefix string, opts *options.Options) error {
	level := RiskOf(opts.Config.AnnotationsRiskLevel)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if key, known := byName[name]; known && key.Risk > level {
			return fmt.Errorf("annotation %s/%s: its risk is %v, and annotations-risk-level is %v; the ingress is rejected", prefix, name, key.Risk, level)
		}
		for _, word := range opts.Config.AnnotationValueWordBlocklist {
			if strings.Contains(given[name], word) {
				return fmt.Errorf("annotation %s/%s: its value has %q, which annotation-value-word-blocklist forbids; the ingress is rejected", prefix, name, word)
			}
		}
	}
	return nil
}

// Families returns the table of all families, in parse order.
func Families() []Family { return slices.Clone(families) }

// NamesSecret reports whether the value of an annotation names a Secret, regardless of its prefix.
func NamesSecret(annotation string) bool {
	_, name, _ := strings.Cut(annotation, "/")
	return byName[name].Secret
}

// byName contains all keys, by name and alias.
var byName = func() map[string]Key {
	named := make(map[string]Key)
	for _, family := range families {
		for _, key := range family.Keys {
			for _, name := range append([]string{key.Name}, key.Aliases...) {
				if _, twice := named[name]; twice {
					panic("annotations: two keys are called " + name) // a defect of the table; every test finds it
				}
				named[name] = key
			}
		}
	}
	return named
}()
