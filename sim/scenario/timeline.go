package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// timeline checks each step, and that what is deleted was applied before.
func (c *checker) timeline() {
	for i, step := range c.Timeline {
		path := []any{"spec", "timeline", i}
		c.notNegative(step.At, append(path, "at")...)
		switch actions := step.actions(); len(actions) {
		case 0:
			c.wrong("a step without an action", "add churn:, apply:, delete: or fault:", path...)
		case 1:
			c.churn(step, path)
			c.fault(step, path)
			c.names(step, path)
			c.see(step, append(path, "see"))
		default:
			c.wrong("a step with several actions: "+strings.Join(actions, ", "), "make a step of each", path...)
		}
	}
	c.deletions()
	c.oneChurn()
	c.oneFault()
}

// oneFault refuses a fault that begins while the same one lasts, also when one of
// them is the control's: healing either would heal both.
func (c *checker) oneFault() {
	steps := slices.Clone(c.Timeline)
	if c.Control != nil {
		steps = append(steps, c.Control.Timeline...)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	lasting := map[string]Step{} // the one that lasts longest
	for _, step := range steps {
		if step.Fault == "" || step.For <= 0 || c.broken[step.Line] {
			continue
		}
		before := lasting[step.Fault]
		end := before.At + before.For
		if step.At < end {
			c.problems.add(step.Line, fmt.Sprintf("fault %s at %v, while that of line %d lasts", step.Fault, step.At, before.Line),
				fmt.Sprintf("let it begin at %v or later, or the other be over by %v", end, step.At))
		}
		if step.At+step.For > end {
			lasting[step.Fault] = step
		}
	}
}

// oneChurn refuses a second churn of a kind: each begins with the population,
// which the first has changed.
func (c *checker) oneChurn() {
	first := map[string]int{}
	for _, step := range c.Timeline {
		switch {
		case step.Churn == "" || c.broken[step.Line]:
		case first[step.Churn] == 0:
			first[step.Churn] = step.Line
		default:
			c.problems.add(step.Line, fmt.Sprintf("a second %s of one population; the first is at line %d", step.Churn, first[step.Churn]),
				"make one step of the two")
		}
	}
}

func (c *checker) churn(step Step, path []any) {
	if step.Churn == "" {
		for _, given := range []struct {
			key string
			set bool
		}{{"rate", step.Rate != 0}, {"for", step.For != 0 && step.Fault == ""}, {"drain", step.Drain != nil}} {
			if given.set {
				c.wrong(given.key+": belongs to a churn", "take it away", append(path, given.key)...)
			}
		}
		return
	}
	if !slices.Contains(Churns, step.Churn) {
		c.wrong("unknown churn "+step.Churn, choose(step.Churn, "churns", Churns), append(path, "churn")...)
	}
	if c.Population.IsZero() {
		c.wrong("a churn, but no population to change", "add population: {services: 10, pods: 5}", path...)
	}
	switch recorded := step.Churn == Recorded; {
	case recorded && c.Population.Recording == "":
		c.wrong("a churn that was recorded, and a population that was not", "add recording: FILE to it", path...)
	case recorded && step.Rate != 0:
		c.wrong("rate: what was recorded has its times", "take it away", append(path, "rate")...)
	case !recorded && step.Rate == 0:
		c.wrong("a churn without a rate", "add rate: 5/s", append(path, "rate")...)
	}
	if step.For <= 0 {
		c.wrong("a churn that does not say for how long", "add for: 20s", append(path, "for")...)
	}
	if many := TooManyChanges(step.Rate, step.For); many != "" {
		c.wrong(many, fmt.Sprintf("make it %d at most", MostChanges), path...)
	}
	if step.Drain != nil {
		if !step.drains() {
			c.wrong("drain: belongs to a "+RollingUpdate, "take it away", append(path, "drain")...)
		}
		c.notNegative(*step.Drain, append(path, "drain")...)
	}
	if step.Churn == CertificateRotation && !c.Population.TLS {
		c.wrong("a churn of certificates, and none in the population", "add tls: true to it", path...)
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
		c.wrong("unknown fault "+step.Fault, choose(step.Fault, "faults", names), append(path, "fault")...)
	case lasts && step.For <= 0:
		c.wrong("a fault that does not say for how long", "add for: 2s", append(path, "for")...)
	case !lasts && step.For != 0:
		c.wrong("for: this fault is over at once", "take it away", append(path, "for")...)
	}
}

// names checks that the manifests which a step names are in the file.
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
		c.wrong(fmt.Sprintf("%s: no manifest %s in this file", key, name),
			choose(name, "manifests", slices.Compact(known)), append(path, key)...)
	}
}

// see checks what is to be seen of manifests.
func (c *checker) see(step Step, path []any) {
	see := step.See
	if see == nil {
		return
	}
	if step.Apply == "" && step.Delete == "" {
		c.wrong("see: belongs to apply: and delete:", "take it away", path...)
	}
	if len(validation.IsDNS1123Subdomain(see.Host)) > 0 {
		c.wrong(fmt.Sprintf("%q is not a host", see.Host), "write a name such as demo.example.com", append(path, "host")...)
	}
	if see.Path != "" && !strings.HasPrefix(see.Path, "/") {
		c.wrong(fmt.Sprintf("%q is not a path", see.Path), "begin it with /", append(path, "path")...)
	}
	if see.Service == "" && see.Status == 0 {
		c.wrong("see: says nothing of the answer", "add service: NAME or status: 404", path...)
	}
	if see.Status != 0 && (see.Status < 100 || see.Status > 599) {
		c.wrong(fmt.Sprintf("%d is not a status", see.Status), "write one from 100 to 599", append(path, "status")...)
	}
}

// deletions checks that each step that deletes comes after one that applied.
func (c *checker) deletions() {
	steps := slices.Clone(c.Timeline)
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	there := map[string]bool{}
	for _, step := range steps {
		switch {
		case step.Apply != "":
			there[step.Apply] = true
		case step.Delete != "" && !there[step.Delete] && len(c.Named(step.Delete)) > 0:
			if !c.broken[step.Line] {
				c.problems.add(step.Line, fmt.Sprintf("delete: %s at %v, but nothing has applied it by then", step.Delete, step.At),
					"add an earlier step with apply: "+step.Delete)
			}
		default:
			delete(there, step.Delete)
		}
	}
}

// manifests checks that no step would write the same object twice.
func (c *checker) manifests() {
	first := map[string]Manifest{}
	for _, m := range c.Manifests {
		if m.Object == nil {
			continue
		}
		key := m.Name + "\n" + m.identity()
		if before, again := first[key]; again {
			c.problems.add(m.Line, fmt.Sprintf("a second %s; the first is at line %d", m.identity(), before.Line),
				fmt.Sprintf("give one of them a name of its own with the annotation %s", NameAnnotation))
			continue
		}
		first[key] = m
	}
}
