package behave

import (
	"fmt"
	"slices"

	"windtunnel.dev/sim/specfile"
)

// changes follows the objects through the steps: a step must apply manifests that change something,
// and delete manifests that exist.
func (c *checker) changes() {
	current := versions{}
	for _, m := range c.Manifests {
		if !m.Named && m.Object != nil {
			current[m.Identity()] = m.Name
		}
	}
	used := map[string]bool{} // names of manifests
	for i, step := range c.Steps {
		path := []any{"spec", "steps", i}
		named := map[string]string{"apply": step.Apply, "delete": step.Delete}
		for _, action := range sorted(named) {
			if name := named[action]; name != "" {
				used[name] = true
				refused := step.Expect.Rejected != nil && !step.Expect.Rejected.Absent
				effect := current.follow(action, name, c.manifestsOf(name), refused)
				c.changeOf(action, name, effect, below(path, action))
			}
		}
	}
	c.unused(used)
}

// manifestsOf returns the manifests of a name that could be parsed.
func (c *checker) manifestsOf(name string) []Manifest {
	return slices.DeleteFunc(c.Named(name), func(m Manifest) bool { return m.Object == nil })
}

// versions are the objects that exist at a step, each with the name of its manifest.
type versions map[string]string

// follow applies or deletes manifests, and reports whether that changes anything. Without manifests
// it returns true, because nothing is known. Manifests that the controller refuses are not stored.
func (v versions) follow(action, name string, manifests []Manifest, refused bool) (effect bool) {
	effect = len(manifests) == 0
	for _, m := range manifests {
		version, exists := v[m.Identity()]
		if action == "delete" {
			effect = effect || exists
			delete(v, m.Identity())
			continue
		}
		effect = effect || version != name
		if !refused {
			v[m.Identity()] = name
		}
	}
	return effect
}

// changeOf checks that manifests of a name exist, and that the action has an effect on them.
func (c *checker) changeOf(action, name string, effect bool, at []any) {
	switch {
	case len(c.Named(name)) == 0:
		c.Problem(fmt.Sprintf("%s: no manifest %s in this file", action, name), specfile.Choose(name, "manifests", c.manifestNames()), at...)
	case effect:
	case action == "apply":
		c.Problem(fmt.Sprintf("apply: %s is applied already", name),
			fmt.Sprintf("remove the step, or give the manifest the annotation %s, so that only the step applies it", specfile.NameAnnotation), at...)
	default:
		c.Problem(fmt.Sprintf("delete: %s is not applied before", name), "add an earlier step with apply: "+name, at...)
	}
}

func (c *checker) manifestNames() []string {
	var names []string
	for _, m := range c.Manifests {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unused reports the manifests that no step applies or deletes, each name once.
func (c *checker) unused(used map[string]bool) {
	for _, m := range c.Manifests {
		if m.Named && !used[m.Name] && !c.Broken(m.Line) {
			used[m.Name] = true
			c.ProblemAt(m.Line, fmt.Sprintf("manifest %s is never applied", m.Name),
				fmt.Sprintf("add a step with apply: %s, or remove the annotation %s", m.Name, specfile.NameAnnotation))
		}
	}
}
