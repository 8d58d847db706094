package behave

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/http/httpguts"
	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/sim/specfile"
)

// checker looks for values that decode but are not valid.
type checker struct {
	*Case
	*specfile.Checker
	nodes []*yaml.Node // of the manifests
	known Known
}

func check(c *Case, at specfile.Position, manifests []*yaml.Node, known Known, found *specfile.Problems) {
	ch := &checker{Case: c, Checker: specfile.NewChecker(at, found), nodes: manifests, known: known}
	if strings.TrimSpace(c.Summary) == "" {
		ch.Problem("a case without a summary", "add summary: and a sentence that says what the controller does", "spec", "summary")
	}
	specfile.CheckRepeated(c.Manifests, found)
	ch.settings()
	ch.covers()
	ch.earlier()
	ch.differs()
	ch.pods()
	ch.certificates()
	ch.steps()
	ch.changes()
}

// below returns a copy of a path with more elements.
func below(path []any, more ...any) []any { return append(slices.Clone(path), more...) }

// oneOf checks that a word is one of known; an empty word is valid.
func (c *checker) oneOf(word, kind string, known []string, path ...any) {
	if word != "" && !slices.Contains(known, word) {
		c.Problem(fmt.Sprintf("unknown %s %s", kind, word), specfile.Choose(word, "choices", known), path...)
	}
}

// label checks a name that becomes the name of an object or host.
func (c *checker) label(kind, name string, path ...any) {
	if len(validation.IsDNS1123Label(name)) > 0 {
		c.Problem(fmt.Sprintf("%q cannot be the name of a %s", name, kind), "use lower-case letters, digits and dashes, at most 63", path...)
	}
}

func (c *checker) status(status int, path ...any) {
	if status < 100 || status > 599 {
		c.Problem(fmt.Sprintf("%d is not a status", status), "write one from 100 to 599", path...)
	}
}

func (c *checker) notNegative(d time.Duration, path ...any) {
	if d < 0 {
		c.Problem(fmt.Sprintf("%v: %v is below zero", path[len(path)-1], d), "make it positive", path...)
	}
}

func (c *checker) pattern(text string, path ...any) {
	if _, err := regexp.Compile(text); err != nil {
		c.Problem(err.Error(), "write a regular expression of Go", path...)
	}
}

// headerNames checks names of headers.
func (c *checker) headerNames(names []string, path ...any) {
	first := map[string]string{}
	for _, name := range names {
		lower := strings.ToLower(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			c.Problem(fmt.Sprintf("%q is not the name of a header", name), "use letters, digits and dashes", below(path, name)...)
		case first[lower] != "":
			c.Problem(fmt.Sprintf("header %s is given twice, also as %s", name, first[lower]), "keep one of the two", below(path, name)...)
		}
		first[lower] = name
	}
}

// settings checks flags, ConfigMap keys, annotations and needs.
func (c *checker) settings() {
	for _, flag := range sorted(c.Flags) {
		if strings.HasPrefix(flag, "-") {
			c.Problem("flag "+flag+" is written with dashes", "write "+strings.TrimLeft(flag, "-"), "spec", "flags", flag)
		} else {
			c.knownKey("flag", flag, c.known.Flags, "docs/flags.md lists the flags", c.At, "spec", "flags", flag)
		}
	}
	c.configKeys(c.Config, "spec", "config")
	for i, step := range c.Steps {
		c.configKeys(step.Config, "spec", "steps", i, "config")
	}
	for i, need := range c.Needs {
		if c.known.Needs != nil && !slices.Contains(c.known.Needs, need) {
			c.Problem("unknown need "+need, specfile.Choose(need, "needs", c.known.Needs), "spec", "needs", i)
		}
	}
	if c.Flags["annotations-prefix"] != "" || len(c.known.Annotations) == 0 {
		return // with another prefix, annotations with ours are not the controller's
	}
	for i, m := range c.Manifests {
		if m.Object == nil || m.Object.GetKind() != "Ingress" {
			continue
		}
		for _, name := range sorted(m.Object.GetAnnotations()) {
			if strings.HasPrefix(name, c.prefix()) {
				c.knownKey("annotation", name, c.known.Annotations, "docs/annotations.md lists them", specfile.Position{Root: c.nodes[i]}, "metadata", "annotations", name)
			}
		}
	}
}

// prefix returns the prefix of the controller's annotations, with its slash.
func (c *checker) prefix() string {
	if prefix := c.Flags["annotations-prefix"]; prefix != "" {
		return prefix + "/"
	}
	if len(c.known.Annotations) == 0 {
		return "nginx.ingress.kubernetes.io/"
	}
	prefix, _, _ := strings.Cut(c.known.Annotations[0], "/")
	return prefix + "/"
}

func (c *checker) configKeys(config map[string]string, path ...any) {
	for _, key := range sorted(config) {
		c.knownKey("ConfigMap key", key, c.known.Config, "docs/configmap.md lists the keys", c.At, below(path, key)...)
	}
}

func (c *checker) knownKey(kind, key string, known []string, mend string, at specfile.Position, path ...any) {
	if known == nil || slices.Contains(known, key) {
		return
	}
	what, mend := specfile.Unknown(kind, key, known, mend)
	c.ProblemAt(at.Line(path...), what, mend)
}

// covers checks that the settings in covers exist, and that the case uses them unless it shows a default.
func (c *checker) covers() {
	for i, text := range c.Covers {
		path := []any{"spec", "covers", i}
		subject, isDefault := Setting(text), strings.HasSuffix(text, DefaultSuffix)
		if slices.Contains(c.Covers[:i], text) {
			c.Problem(text+" is covered twice", "remove one of the two", path...)
		}
		used, where, ok := c.subject("covers", subject, path)
		switch {
		case !ok:
		case used && isDefault:
			c.Problem(fmt.Sprintf("covers: %s, but the case sets it", text), "write "+subject, path...)
		case !used && !isDefault:
			c.Problem(fmt.Sprintf("covers: %s, but %s", text, where), "use it, or write "+subject+DefaultSuffix+" if the case shows its default", path...)
		}
	}
}

// about checks that the settings in a step's about exist. Unlike those in covers, they may be fields
// of ingresses, and the case need not use them.
func (c *checker) about(step Step, path []any) {
	for i, text := range step.About {
		at := below(path, "about", i)
		if field, isField := strings.CutPrefix(text, FieldPrefix); isField {
			c.oneOf(cmp.Or(field, "without a name"), "field of ingresses", Fields, at...)
			continue
		}
		c.subject("about", Setting(text), at)
	}
}

// subject checks the name of an annotation, a ConfigMap key or a flag. used reports whether the case
// sets it; where is the message if it does not. ok is false if there is no such name.
func (c *checker) subject(key, text string, path []any) (used bool, where string, ok bool) {
	kind, name, _ := strings.Cut(text, "/")
	var known []string
	noun := kind
	switch kind {
	case "annotation":
		for _, full := range c.known.Annotations {
			known = append(known, full[strings.Index(full, "/")+1:])
		}
		used, where = c.annotates(name), "no ingress of the file has this annotation"
	case "config":
		noun = "ConfigMap key"
		known, used, where = c.known.Config, c.configures(name), "neither config: nor a step sets this key"
	case "flag":
		_, used = c.Flags[name]
		known, where = c.known.Flags, "flags: does not have it"
	default:
		c.Problem(fmt.Sprintf("%s: %q is neither an annotation nor a ConfigMap key nor a flag", key, text),
			"write annotation/NAME, config/KEY or flag/NAME", path...)
		return false, "", false
	}
	if known != nil && !slices.Contains(known, name) {
		what, mend := specfile.Unknown(noun, name, known, "write its name without a prefix")
		c.Problem(key+": "+what, mend, path...)
		return false, "", false
	}
	return used, where, true
}

// earlier checks that earlier has only annotations that the case covers.
func (c *checker) earlier() {
	for i, text := range c.Earlier {
		if !strings.HasPrefix(text, coversAnnotation+"/") || !slices.Contains(c.Settings(), text) {
			c.Problem("earlier: "+text+" is not an annotation in covers", "write annotation/NAME as in covers", "spec", "earlier", i)
		}
	}
}

func (c *checker) annotates(name string) bool {
	return slices.ContainsFunc(c.Manifests, func(m Manifest) bool {
		if m.Object == nil {
			return false
		}
		_, used := m.Object.GetAnnotations()[c.prefix()+name]
		return used
	})
}

func (c *checker) configures(key string) bool {
	if _, used := c.Config[key]; used {
		return true
	}
	return slices.ContainsFunc(c.Steps, func(s Step) bool { _, used := s.Config[key]; return used })
}

// differs checks that differs and bundled come together.
func (c *checker) differs() {
	path := []any{"spec", "differs"}
	marked := false
	for i, step := range c.Steps {
		if step.Bundled == nil {
			continue
		}
		marked = true
		if c.Differs == "" {
			c.Problem("bundled: in a case that does not differ", "add differs: "+DifferencesPrefix+"ROW, or remove bundled", "spec", "steps", i, "bundled")
		}
	}
	if c.Differs == "" {
		return
	}
	if !marked {
		c.Problem("differs: no step says what the bundled controller answers", "add bundled: to a step, or remove differs", path...)
	}
	row, ok := strings.CutPrefix(c.Differs, DifferencesPrefix)
	switch {
	case !ok || row == "":
		c.Problem(fmt.Sprintf("differs: %q names no row of docs/compat.md", c.Differs), "write "+DifferencesPrefix+"ROW", path...)
	case c.known.Differences != nil && !slices.Contains(c.known.Differences, row):
		what, mend := specfile.Unknown("row", row, c.known.Differences, "a row has a name if it begins with <a id=NAME></a>")
		c.Problem("differs: "+what+" of docs/compat.md", mend, path...)
	}
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
