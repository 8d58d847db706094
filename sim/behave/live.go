package behave

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// LiveChange is what a live run found about one annotation or ConfigMap key of a case: the run sets
// it while the controller serves the case without it, and removes it again.
type LiveChange struct {
	// What is changed, as in covers: annotation/rewrite-target.
	Covers string `json:"covers"`
	// Passed, failed, skipped or void.
	Outcome Outcome `json:"outcome"`
	// Why it was skipped or is void.
	Reason string `json:"reason,omitempty"`
	// Whether it makes the controller reject the ingress, so that the earlier version stays and the answers must not change.
	Earlier bool `json:"earlier,omitempty"`
	// Whether an expectation of the case fails without it. If none does, the case does not show whether a change is seen.
	Shown bool `json:"shown,omitempty"`
	// How setting it came to be seen.
	Set *Seen `json:"set,omitempty"`
	// How its removal came to be seen.
	Removed *Seen `json:"removed,omitempty"`
}

// Seen is how a change came to be seen in answers.
type Seen struct {
	// The time from the write to the answer that shows the change, in nanoseconds. Absent if the answers could not be watched, because further requests would change them.
	Took time.Duration `json:"took,omitempty"`
	// The number of reloads of nginx until then.
	Reloads int `json:"reloads"`
	// The reasons that the controller gives for what it did, if it does; the first ones, shortened.
	Why []string `json:"why,omitempty"`
}

// Dynamic reports whether neither direction of a change that the case shows reloaded nginx. known is
// false if the case does not show it.
func (l LiveChange) Dynamic() (dynamic, known bool) {
	if !l.Shown || l.Earlier || l.Outcome != Passed || l.Set == nil {
		return false, false
	}
	return l.Set.Reloads == 0 && (l.Removed == nil || l.Removed.Reloads == 0), true
}

// The kinds of settings in covers, before the slash.
const (
	coversAnnotation = "annotation"
	coversConfig     = "config"
	coversFlag       = "flag"
)

// LiveChanges returns a LiveChange for each setting that the case covers, in its order. Those that a
// live run cannot change are Skipped, with the reason; the others have no outcome yet.
func (c *Case) LiveChanges() []LiveChange {
	var all []LiveChange
	for _, setting := range c.Settings() {
		change := LiveChange{Covers: setting, Earlier: slices.Contains(c.Earlier, setting)}
		if change.Reason = c.fixed(setting); change.Reason != "" {
			change.Outcome = Skipped
		}
		all = append(all, change)
	}
	return all
}

// ConcludeLive returns the result of a case from those of its live changes. failures are those of
// all changes.
func ConcludeLive(c *Case, changes []LiveChange, failures []Failure, bundled bool) Result {
	result := Result{Case: c.Name, File: c.File, Outcome: Skipped, Live: changes, Failures: failures}
	var reasons []string
	for _, change := range changes {
		if severity(change.Outcome) > severity(result.Outcome) {
			result.Outcome, reasons = change.Outcome, nil
		}
		if change.Outcome == result.Outcome && change.Reason != "" && !slices.Contains(reasons, change.Reason) {
			reasons = append(reasons, change.Reason)
		}
	}
	if len(changes) == 0 {
		reasons = []string{"the case covers no annotation and no ConfigMap key"}
	}
	result.Reason = strings.Join(reasons, "; ")
	if result.Outcome == Passed && bundled && c.Differs != "" {
		result.Outcome, result.Reason = Differs, c.Differs
	}
	return result
}

// severity orders the outcomes of live changes: that of a case is the most severe one.
func severity(o Outcome) int { return slices.Index([]Outcome{Skipped, Passed, Void, Failed}, o) }

// fixed returns why a live run cannot change a setting that the case covers, or "" if it can.
func (c *Case) fixed(setting string) string {
	if slices.Contains(c.Covers, setting+DefaultSuffix) {
		return "the case shows a default"
	}
	if c.onlyBad(setting) && strings.HasPrefix(setting, coversConfig+"/") {
		return "the invalid value has the same effect as none"
	}
	if len(c.beforeChange()) == 0 {
		return "the first step is a change"
	}
	if slices.ContainsFunc(c.beforeChange(), func(s Step) bool { return s.Background }) {
		return "a request is answered while other steps run"
	}
	switch kind, name, _ := strings.Cut(setting, "/"); kind {
	case coversFlag:
		return "a flag takes effect at the start of the controller"
	case coversAnnotation:
		if !slices.ContainsFunc(c.Manifests, func(m Manifest) bool { return c.carries(m, name) }) {
			return "a step applies it, so the case itself is a live change"
		}
	case coversConfig:
		if _, ok := c.Config[name]; !ok {
			return "a step sets it, so the case itself is a live change"
		}
	}
	return ""
}

// carries reports whether a manifest that is applied before the first step has an annotation of the
// controller.
func (c *Case) carries(m Manifest, annotation string) bool {
	if m.Named || m.Object == nil || m.Object.GetKind() != "Ingress" {
		return false
	}
	_, ok := m.Object.GetAnnotations()[c.annotation(annotation)]
	return ok
}

// annotation returns the whole name of an annotation of the controller.
func (c *Case) annotation(name string) string {
	if prefix := c.Flags["annotations-prefix"]; prefix != "" {
		return prefix + "/" + name
	}
	return "nginx.ingress.kubernetes.io/" + name
}

// beforeChange returns the steps before the first change.
func (c *Case) beforeChange() []Step {
	change := slices.IndexFunc(c.Steps, func(s Step) bool { return s.Request.Request == "" })
	if change < 0 {
		return c.Steps
	}
	return c.Steps[:change]
}

// Still returns the case without its first change and the steps after it.
func (c *Case) Still() *Case {
	still := *c
	still.Steps = c.beforeChange()
	return &still
}

// Without returns the case without the setting that covers names: an annotation or a ConfigMap key.
// It shares everything else with the original.
func (c *Case) Without(covers string) *Case {
	kind, name, _ := strings.Cut(covers, "/")
	bare := *c
	if kind == coversConfig {
		bare.Config = maps.Clone(c.Config)
		delete(bare.Config, name)
		return &bare
	}
	bare.Manifests = slices.Clone(c.Manifests)
	for i, m := range bare.Manifests {
		if !c.carries(m, name) {
			continue
		}
		object := m.Object.DeepCopy()
		annotations := object.GetAnnotations()
		delete(annotations, c.annotation(name))
		object.SetAnnotations(annotations)
		bare.Manifests[i].Object = object
	}
	return &bare
}

// Watchable returns the steps that a run can repeat until a change is seen: plain requests that are
// in failing, the failures before the change. It returns none if pods count requests.
func (c *Case) Watchable(failing []Failure) []Step {
	for _, pods := range c.Pods {
		if slices.ContainsFunc(pods.Rules, func(r Rule) bool { return r.First > 0 }) {
			return nil
		}
	}
	var watchable []Step
	jars := map[string]bool{}
	for _, step := range c.Steps {
		e := step.Expect
		repeatable := step.Times <= 1 && e.Took == nil && e.AccessLog == nil && e.ErrorLog == nil && e.Fails != "timeout" && (step.Jar == "" || !jars[step.Jar])
		jars[step.Jar] = true
		if repeatable && slices.ContainsFunc(failing, func(f Failure) bool { return f.Line == step.Line }) {
			watchable = append(watchable, step)
		}
	}
	return watchable
}

// SameFailures reports whether two judgements of the same steps have the same failed expectations.
func SameFailures(a, b []Failure) bool {
	return maps.Equal(places(a), places(b))
}

// place is an expectation of a case.
type place struct {
	line  int
	field string
}

func places(failures []Failure) map[place]bool {
	all := map[place]bool{}
	for _, f := range failures {
		all[place{f.Line, f.Field}] = true
	}
	return all
}

// Of returns the failures of these steps.
func Of(failures []Failure, steps []Step) []Failure {
	var of []Failure
	for _, f := range failures {
		if slices.ContainsFunc(steps, func(s Step) bool { return s.Line == f.Line }) {
			of = append(of, f)
		}
	}
	return of
}

// Unlike returns the failures of a live change after which the expectations in got fail instead of
// those in want. Their step has done, such as annotation/x is set, and seen, the observation.
func (c *Case) Unlike(done, seen string, got, want []Failure) []Failure {
	step := done + ", " + seen
	if len(want) == 0 {
		named := slices.Clone(got)
		for i := range named {
			named[i].Step = step + ": " + named[i].Step
		}
		return named
	}
	return []Failure{{
		File: c.File, Line: c.Steps[0].Line, Step: step,
		Field: "the list of failed expectations", Got: listed(got), Want: listed(want),
	}}
}

func listed(failures []Failure) string {
	var all []string
	for _, f := range failures {
		all = append(all, fmt.Sprintf("line %d: %s is %s", f.Line, f.Field, f.Got))
	}
	return cmp.Or(strings.Join(all, "; "), "nothing")
}
