package mutate

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/behave"
)

// prefix is the prefix of ingress-nginx's annotations. Mutants name them without it.
const prefix = "nginx.ingress.kubernetes.io/"

// OfSettings returns a mutant for each annotation, ConfigMap key and flag that the cases set: a
// controller that ignores it. A controller that ignores a setting behaves like one that does not
// get it, so Without makes the mutant.
func OfSettings(cases []*behave.Case) []Mutant {
	found := map[Kind]map[string]bool{Annotation: {}, Config: {}, Flag: {}}
	for _, c := range cases {
		for kind, names := range settings(c) {
			for name := range names {
				found[kind][name] = true
			}
		}
	}
	var all []Mutant
	for _, kind := range []Kind{Annotation, Config, Flag} {
		for _, name := range slices.Sorted(maps.Keys(found[kind])) {
			all = append(all, Mutant{Name: string(kind) + "/" + name + "/ignore", Kind: kind, Was: name})
		}
	}
	return all
}

// Sets reports whether a case sets the setting that a mutant ignores.
func Sets(c *behave.Case, m Mutant) bool { return settings(c)[m.Kind][m.Was] }

// settings returns the names of the settings of a case.
func settings(c *behave.Case) map[Kind]map[string]bool {
	all := map[Kind]map[string]bool{Annotation: {}, Config: {}, Flag: {}}
	for _, manifest := range c.Manifests {
		for name := range annotationsOf(manifest) {
			all[Annotation][strings.TrimPrefix(name, prefix)] = true
		}
	}
	for name := range c.Config {
		all[Config][name] = true
	}
	for _, step := range c.Steps {
		for name := range step.Config {
			all[Config][name] = true
		}
	}
	for name := range c.Flags {
		all[Flag][name] = true
	}
	return all
}

func annotationsOf(m behave.Manifest) map[string]string {
	if m.Object.GetKind() != "Ingress" {
		return nil
	}
	return m.Object.GetAnnotations()
}

// Without returns the case without a setting, as a controller sees it that ignores the setting. A
// ConfigMap key is renamed to one that no controller reads (behave.Ignored), so that the run still
// finds logs at the path that the key names.
func Without(c *behave.Case, m Mutant) *behave.Case {
	less := *c
	switch m.Kind {
	case Annotation:
		less.Manifests = slices.Clone(c.Manifests)
		for i, manifest := range less.Manifests {
			if less.Manifests[i].Object = manifest.Object.DeepCopy(); manifest.Object.GetKind() == "Ingress" {
				unstructured.RemoveNestedField(less.Manifests[i].Object.Object, "metadata", "annotations", m.Was)
				unstructured.RemoveNestedField(less.Manifests[i].Object.Object, "metadata", "annotations", prefix+m.Was)
			}
		}
	case Config:
		less.Config = ignored(c.Config, m.Was)
		less.Steps = slices.Clone(c.Steps)
		for i, step := range less.Steps {
			less.Steps[i].Config = ignored(step.Config, m.Was)
		}
	case Flag:
		less.Flags = without(c.Flags, m.Was)
	}
	return &less
}

// ignored returns a copy of a ConfigMap whose key no controller reads.
func ignored(config map[string]string, key string) map[string]string {
	less := without(config, key)
	if value, set := config[key]; set {
		less[behave.Ignored+key] = value
	}
	return less
}

// without returns a copy of a map without a name. The copy is nil only if settings is.
func without(settings map[string]string, name string) map[string]string {
	if settings == nil {
		return nil
	}
	less := map[string]string{}
	maps.Copy(less, settings)
	delete(less, name)
	return less
}
