package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/sim/specfile"
)

// timeline checks each step, and that manifests are applied before they are deleted.
func (c *checker) timeline() {
	for i, step := range c.Timeline {
		path := []any{"spec", "timeline", i}
		c.notNegative(step.At, append(path, "at")...)
		switch actions := step.actions(); len(actions) {
		case 0:
			c.Problem("a step without an action", "add churn:, apply:, delete: or fault:", path...)
		case 1:
			c.churn(step, path)
			c.fault(step, path)
			c.names(step, path)
			c.confirmation(step, append(path, "see"))
		default:
			c.Problem("a step with several actions: "+strings.Join(actions, ", "), "write one step for each", path...)
		}
	}
	c.deletions()
	c.unapplied()
	c.oneChurn()
	c.oneFault()
}

// oneFault rejects a fault that begins while the same fault is still active, because healing one
// would heal both. It includes the faults of the control.
func (c *checker) oneFault() {
	steps := slices.Clone(c.Timeline)
	if c.Control != nil {
		steps = append(steps, c.Control.Timeline...)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	lasting := map[string]Step{} // by fault, the step that ends last so far
	for _, step := range steps {
		if step.Fault == "" || step.For <= 0 || c.Broken(step.Line) {
			continue
		}
		before := lasting[step.Fault]
		end := before.At + before.For
		if step.At < end {
			c.ProblemAt(step.Line, fmt.Sprintf("fault %s begins at %v, while the one of line %d is still active", step.Fault, step.At, before.Line),
				fmt.Sprintf("begin it at %v or later, or end the other by %v", end, step.At))
		}
		if step.At+step.For > end {
			lasting[step.Fault] = step
		}
	}
}

// oneChurn rejects a second churn of the same kind. Each churn is generated from the initial
// population, which the first churn has changed.
func (c *checker) oneChurn() {
	first := map[string]int{}
	for _, step := range c.Timeline {
		switch {
		case step.Churn == "" || c.Broken(step.Line):
		case first[step.Churn] == 0:
			first[step.Churn] = step.Line
		default:
			c.ProblemAt(step.Line, fmt.Sprintf("a second %s of the same population; the first is at line %d", step.Churn, first[step.Churn]),
				"merge the two steps")
		}
	}
}

func (c *checker) churn(step Step, path []any) {
	if step.Churn == "" {
		for _, given := range []struct {
			key string
			set bool
		}{{"rate", step.Rate != 0}, {"for", step.For != 0 && step.Fault == ""}, {"drain", step.Drain != nil}, {"pods", step.Pods != 0}, {"paths", step.Paths != 0}} {
			if given.set {
				c.Problem(given.key+": belongs to a churn", "remove it", append(path, given.key)...)
			}
		}
		return
	}
	if !slices.Contains(Churns, step.Churn) {
		c.Problem("unknown churn "+step.Churn, specfile.Choose(step.Churn, "churns", Churns), append(path, "churn")...)
	}
	if c.Population.IsZero() {
		c.Problem("a churn, but no population to change", "add population: {services: 10, pods: 5}", path...)
	}
	switch recorded := step.Churn == Recorded; {
	case recorded && c.Population.Recording == "" && !c.populationUnclear():
		c.Problem("a recorded churn without a recorded population", "add recording: FILE to the population", path...)
	case recorded && step.Rate != 0:
		c.Problem("rate: a recorded churn has its own times", "remove it", append(path, "rate")...)
	case !recorded && step.Rate == 0:
		c.Problem("a churn without a rate", "add rate: 5/s", append(path, "rate")...)
	}
	c.lasts("churn", step, "20s", append(path, "for"))
	if what, mend := step.changes(); what != "" {
		c.Problem(what, mend, path...)
	}
	c.pods(step, append(path, "pods"))
	c.paths(step, append(path, "paths"))
	if step.Drain != nil {
		if !step.drains() {
			c.Problem("drain: belongs to a "+RollingUpdate, "remove it", append(path, "drain")...)
		}
		c.notNegative(*step.Drain, append(path, "drain")...)
	}
	if step.Churn == CertificateRotation {
		c.certificates(path)
	}
}

// certificates checks that the population has certificates that a churn can replace.
func (c *checker) certificates(path []any) {
	const mend = "use a generated population with tls: true"
	switch p := c.Population; {
	case p.Cluster != "":
		c.Problem("a churn of certificates, which an imported cluster keeps as they are", mend, path...)
	case p.Recording != "":
		c.Problem("a churn of certificates, which a recording keeps as they are", mend, path...)
	case !p.TLS && !c.populationUnclear():
		c.Problem("a churn of certificates, but the population has none", "add tls: true to the population", path...)
	}
}

// lasts checks the duration of a churn or a fault.
func (c *checker) lasts(what string, step Step, such string, path []any) {
	switch {
	case !c.At.Has(path...):
		c.Problem("a "+what+" without a duration", "add for: "+such, path...)
	case step.For <= 0:
		c.Problem(fmt.Sprintf("for: %v is not above zero", step.For), "write a duration such as "+such, path...)
	}
}

// pods checks how many pods a churn adds at once.
func (c *checker) pods(step Step, path []any) {
	switch {
	case step.Pods == 0:
	case step.Churn != ScaleOut:
		c.Problem("pods: belongs to a "+ScaleOut, "remove it", path...)
	case step.Pods < 0:
		c.Problem(fmt.Sprintf("%d pods", step.Pods), "make it 1 or more", path...)
	default:
		if what, mend := step.addedPods(); what != "" {
			c.Problem(what, mend, path...)
		}
	}
}

// paths checks how many further paths each new host has.
func (c *checker) paths(step Step, path []any) {
	switch {
	case step.Paths == 0:
	case step.Churn != NewHosts:
		c.Problem("paths: belongs to "+NewHosts, "remove it", path...)
	case step.Paths < 0 || step.Paths > MostPaths:
		c.Problem(fmt.Sprintf("%d paths", step.Paths), fmt.Sprintf("make it 0 to %d", MostPaths), path...)
	default:
		if what, mend := step.addedPaths(); what != "" {
			c.Problem(what, mend, path...)
		}
	}
}

func (c *checker) fault(step Step, path []any) {
	if step.Fault == "" || c.known.Faults == nil {
		return
	}
	lasts, known := c.known.Faults[step.Fault]
	switch {
	case !known:
		names := slices.Sorted(maps.Keys(c.known.Faults))
		c.Problem("unknown fault "+step.Fault, specfile.Choose(step.Fault, "faults", names), append(path, "fault")...)
	case lasts:
		c.lasts("fault", step, "2s", append(path, "for"))
	case !lasts && step.For != 0:
		c.Problem("for: this fault has no duration", "remove it", append(path, "for")...)
	}
}

// names checks that the file has the manifests that a step names.
func (c *checker) names(step Step, path []any) {
	for key, name := range map[string]string{"apply": step.Apply, "delete": step.Delete} {
		if name == "" || len(c.Named(name)) > 0 {
			continue
		}
		var known []string
		for _, m := range c.Manifests {
			known = append(known, m.Name)
		}
		slices.Sort(known)
		c.Problem(fmt.Sprintf("%s: no manifest %s in this file", key, name),
			specfile.Choose(name, "manifests", slices.Compact(known)), append(path, key)...)
	}
}

// confirmation checks the response that a step expects once its manifests are live.
func (c *checker) confirmation(step Step, path []any) {
	see := step.Confirmation
	if see == nil {
		return
	}
	if step.Apply == "" && step.Delete == "" {
		c.Problem("see: belongs to apply: and delete:", "remove it", path...)
	}
	if len(validation.IsDNS1123Subdomain(see.Host)) > 0 {
		c.Problem(fmt.Sprintf("%q is not a host", see.Host), "write a name such as demo.example.com", append(path, "host")...)
	}
	if see.Path != "" && !strings.HasPrefix(see.Path, "/") {
		c.Problem(fmt.Sprintf("%q is not a path", see.Path), "begin it with /", append(path, "path")...)
	}
	if see.Service == "" && see.Status == 0 {
		c.Problem("see: does not describe the response", "add service: NAME or status: 404", path...)
	}
	if see.Status != 0 && (see.Status < 100 || see.Status > 599) {
		c.Problem(fmt.Sprintf("%d is not a status", see.Status), "write one from 100 to 599", append(path, "status")...)
	}
}

// deletions checks that each step that deletes manifests comes after one that applies them.
func (c *checker) deletions() {
	steps := slices.Clone(c.Timeline)
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	applied := map[string]bool{}
	for _, step := range steps {
		switch {
		case step.Apply != "":
			applied[step.Apply] = true
		case step.Delete != "" && !applied[step.Delete] && len(c.Named(step.Delete)) > 0:
			c.ProblemAt(step.Line, fmt.Sprintf("delete: %s at %v, but no step applies it before", step.Delete, step.At),
				"add an earlier step with apply: "+step.Delete)
		default:
			delete(applied, step.Delete)
		}
	}
}

// unapplied reports manifests that no step applies, because they would have no effect. It reports nothing
// if a step is invalid, because that step may have been meant to apply them.
func (c *checker) unapplied() {
	steps := slices.Clone(c.Timeline)
	if len(steps) == 0 && c.At.Has("spec", "timeline", 0) {
		return
	}
	if c.Control != nil {
		steps = append(steps, c.Control.Timeline...)
	}
	applied := map[string]bool{}
	for _, step := range steps {
		if c.Broken(step.Line) || step.Apply != "" && len(c.Named(step.Apply)) == 0 {
			return
		}
		applied[step.Apply] = true
	}
	for _, m := range c.Manifests {
		if m.Object != nil && !applied[m.Name] {
			c.ProblemAt(m.Line, "no step applies the manifest "+m.Name, fmt.Sprintf("add {at: 0s, apply: %s} to the timeline, or remove the manifest", m.Name))
			applied[m.Name] = true // several objects may have the name: one problem is enough
		}
	}
}
