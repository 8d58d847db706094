// Package annotations reads what the annotations of an ingress ask for. It
// stands between those texts and the model, which sees typed values only. Its
// one rule: a family of annotations is one file, with its table of keys, its
// type and its parse function; nothing is looked up, so that what an annotation
// names (a Secret, a ConfigMap, a Service) is a name in the result.
//
// Names, defaults, formats and risks are ingress-nginx's.
package annotations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/options"
)

// DefaultPrefix is put before the names of all keys (--annotations-prefix).
const DefaultPrefix = "nginx.ingress.kubernetes.io"

// Key is one annotation: a row of its family's table.
type Key struct {
	Name    string // without the prefix
	Aliases []string
	Doc     string
	Risk    Risk
	Scope   Scope
	Want    Want // what a value may look like
	Bad     Bad  // what becomes of a value that does not
	Secret  bool // the value names a Secret, changes of which need a sync
}

// Family is a group of annotations that make one thing.
type Family struct {
	Name  string
	Keys  []Key
	parse func(*reader, *Set)
}

// Risk says how much an annotation lets the author of an ingress do. A
// controller takes those up to its annotations-risk-level.
type Risk int

// The risks, by how much they let do.
const (
	Low Risk = iota
	Medium
	High
	Critical
)

func (r Risk) String() string { return [...]string{"Low", "Medium", "High", "Critical"}[r] }

// RiskOf reads annotations-risk-level, in whatever letter case; an unknown text
// is Low. Both as in ingress-nginx.
func RiskOf(text string) Risk {
	for _, risk := range []Risk{Medium, High, Critical} {
		if strings.EqualFold(risk.String(), text) {
			return risk
		}
	}
	return Low
}

// Scope says what an annotation is about.
type Scope string

// The scopes.
const (
	OfLocation Scope = "location"
	OfServer   Scope = "server"         // the oldest ingress of a host wins
	OfBackend  Scope = "backend"        // the oldest ingress that names a port of a service wins
	OfCanary   Scope = "canary backend" // of a canary ingress
	OfBoth     Scope = "server and location"
	OfAll      Scope = "configuration"
)

// Bad says what becomes of a bad value.
type Bad int

// What becomes of a bad value, from mild to severe.
const (
	UsesDefault   Bad = iota // as if the annotation were not there
	DropsItems               // bad items of the list are left out, even if none is left
	AllowsNothing            // what the annotation would allow is not allowed
	DeniesRequest            // the ingress's locations answer 503
	RejectsAll               // the ingress is refused; its earlier version stays if it protects no less
)

func (b Bad) String() string {
	return [...]string{"it is ignored", "invalid items are dropped", "it allows nothing", "requests get 503", "the ingress is rejected"}[b]
}

// Finding is an annotation that could not be followed to the letter.
type Finding struct {
	Key    string // with the prefix
	Reason string // what is wrong and what was done instead
}

// Parse reads the annotations of an ingress, in the order of the families. An
// error rejects the ingress as a whole: it names the annotation and says why.
func Parse(ingress *networkingv1.Ingress, opts options.Options) (Set, []Finding, error) {
	opts.AnnotationsPrefix = cmp.Or(opts.AnnotationsPrefix, DefaultPrefix)
	given := ours(ingress.Annotations, opts.AnnotationsPrefix+"/")
	if err := acceptable(given, opts); err != nil {
		return Set{}, nil, err
	}
	var set Set
	r := reader{given: given, options: opts, ingress: ingress}
	for i := range families {
		family := &families[i]
		r.family = family
		family.parse(&r, &set)
		if r.rejected != nil {
			return Set{}, nil, r.rejected
		}
	}
	set.Denied = r.denied
	return set, append(r.findings, unknown(given, opts.AnnotationsPrefix)...), nil
}

// ours are the annotations that begin with prefix, without it.
func ours(all map[string]string, prefix string) map[string]string {
	short := make(map[string]string)
	for name, value := range all {
		if name, ours := strings.CutPrefix(name, prefix); ours {
			short[name] = value
		}
	}
	return short
}

// acceptable says which annotation keeps an ingress from being taken at all:
// one that is too risky, or that has a word which is not allowed.
func acceptable(given map[string]string, opts options.Options) error {
	level := RiskOf(opts.Config.AnnotationsRiskLevel)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if key, known := byName[name]; known && key.Risk > level {
			return fmt.Errorf("annotation %s/%s: its risk is %v, and annotations-risk-level is %v; the ingress is rejected", opts.AnnotationsPrefix, name, key.Risk, level)
		}
		for _, word := range opts.Config.AnnotationValueWordBlocklist {
			if strings.Contains(given[name], word) {
				return fmt.Errorf("annotation %s/%s: its value has %q, which annotation-value-word-blocklist forbids; the ingress is rejected", opts.AnnotationsPrefix, name, word)
			}
		}
	}
	return nil
}

// Families is the table of all, in the order in which they are parsed.
func Families() []Family { return slices.Clone(families) }

// NamesSecret reports whether the value of an annotation names a Secret, whatever its prefix.
func NamesSecret(annotation string) bool {
	_, name, _ := strings.Cut(annotation, "/")
	return byName[name].Secret
}

// byName has all keys, by name and alias.
var byName = func() map[string]Key {
	named := make(map[string]Key)
	for _, family := range families {
		for _, key := range family.Keys {
			for _, name := range append([]string{key.Name}, key.Aliases...) {
				if _, twice := named[name]; twice {
					panic("annotations: two keys are called " + name) // a defect of the table, met by any test
				}
				named[name] = key
			}
		}
	}
	return named
}()
