package scenario

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/specfile"
)

// Keys has the names that our controller knows. The controller ignores unknown keys and annotations, and
// does not start with an unknown flag. A nil list disables its check.
type Keys struct {
	Config      []string // keys of its ConfigMap
	ConfigMap   string   // namespace/name of that ConfigMap
	Annotations []string // of ingresses, with their prefix
	Flags       []string // without dashes
	// Other means that another controller, which may know other keys, may replace the bundled one.
	// Unknown keys are then warnings.
	Other bool
}

// annotationsPrefix is the flag that changes the prefix of annotations.
const annotationsPrefix = "annotations-prefix"

// unknownKeys finds misspelt ConfigMap keys and annotations, which the controllers would ignore.
func (c *checker) unknownKeys() {
	everyone := slices.ContainsFunc(c.Subjects, Subject.foreign)
	c.configKeys(c.Config, everyone, "spec", "config")
	for i, s := range c.Subjects {
		c.configKeys(s.Config, s.foreign(), "spec", "subjects", i, "config")
	}
	if c.Control != nil {
		c.configKeys(c.Control.Config, everyone, "spec", "control", "config")
	}
	c.unknownFlags()
	if slices.ContainsFunc(c.Subjects, func(s Subject) bool { return s.Flags[annotationsPrefix] != "" }) {
		return // the prefix is another one, so these are not our annotations
	}
	c.annotations(c.Population.Annotations, everyone, c.At, "spec", "population", "annotations")
	for i, m := range c.Manifests {
		if m.Object == nil {
			continue
		}
		switch m.Object.GetKind() {
		case "Ingress":
			c.annotations(m.Object.GetAnnotations(), everyone, specfile.Position{Root: c.nodes[i]}, "metadata", "annotations")
		case "ConfigMap":
			if m.Object.GetNamespace()+"/"+m.Object.GetName() == c.known.Keys.ConfigMap {
				data, _, _ := unstructured.NestedStringMap(m.Object.Object, "data")
				c.keys(data, c.known.Keys.Config, "ConfigMap key", "docs/configmap.md lists the keys", everyone, specfile.Position{Root: c.nodes[i]}, "data")
			}
		}
	}
}

// unknownFlags finds misspelt flags of our controller. Another one may have other flags.
func (c *checker) unknownFlags() {
	if c.known.Keys.Other {
		return
	}
	ours := func(s Subject) bool { return !s.foreign() }
	for i, s := range c.Subjects {
		if ours(s) {
			c.flags(s.Flags, "spec", "subjects", i, "flags")
		}
	}
	if c.Control != nil && slices.ContainsFunc(c.Subjects, ours) {
		c.flags(c.Control.Flags, "spec", "control", "flags")
	}
}

func (c *checker) flags(given map[string]string, path ...any) {
	plain := maps.Clone(given)
	maps.DeleteFunc(plain, func(flag, _ string) bool { return strings.HasPrefix(flag, "-") }) // another problem
	c.keys(plain, c.known.Keys.Flags, "flag", "docs/flags.md lists the flags", false, c.At, path...)
}

// foreign reports whether the subject may run another controller than ours.
func (s Subject) foreign() bool { return s.Controller != Bundled }

func (c *checker) configKeys(config map[string]string, foreign bool, path ...any) {
	c.keys(config, c.known.Keys.Config, "ConfigMap key", "docs/configmap.md lists the keys", foreign, c.At, path...)
}

// annotations checks the annotations with our prefix.
func (c *checker) annotations(all map[string]string, foreign bool, at specfile.Position, path ...any) {
	if len(c.known.Keys.Annotations) == 0 {
		return
	}
	prefix, _, _ := strings.Cut(c.known.Keys.Annotations[0], "/")
	ours := maps.Clone(all)
	maps.DeleteFunc(ours, func(name, _ string) bool { return !strings.HasPrefix(name, prefix+"/") })
	c.keys(ours, c.known.Keys.Annotations, "annotation", "docs/annotations.md lists them", foreign, at, path...)
}

// keys reports each unknown key: as an error if all its readers are our controller, otherwise as a
// warning.
func (c *checker) keys(given map[string]string, known []string, kind, mend string, foreign bool, at specfile.Position, path ...any) {
	if known == nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if slices.Contains(known, key) {
			continue
		}
		what, mend := specfile.Unknown(kind, key, known, mend)
		line := at.Line(append(slices.Clone(path), key)...)
		if foreign || c.known.Keys.Other {
			c.Warnings = append(c.Warnings, Problem{File: c.File, Line: line, What: what + ", which the bundled controller would ignore", Mend: mend})
		} else {
			c.ProblemAt(line, what, mend)
		}
	}
}
