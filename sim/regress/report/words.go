// Package report shows the result of a comparison as text, Markdown and HTML. Its one rule: it is
// pure, and all formats use the same words.
package report

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/conf"
	"windtunnel.dev/sim/regress/speed"
	"windtunnel.dev/sim/report"
)

// headline says what the comparison found, in one sentence.
func headline(r *regress.Report) string {
	switch r.Outcome {
	case regress.Same:
		if n := expectedKinds(r); n > 0 {
			return "The sides differ only as expected: " + plural.Of(n, "kind of difference", "kinds of differences") + "."
		}
		return alike(r)
	case regress.Void:
		if r.Cost != nil && r.Cost.Void() {
			return "Void: some figures could not be judged, and the rest shows no difference."
		}
		return "Void: some tests could not be run, and the others show no difference."
	}
	failures := 0
	for _, f := range r.Failures {
		if f.Sides != regress.SidesBoth {
			failures++
		}
	}
	var found []string
	if len(r.Kinds) > 0 {
		found = append(found, plural.Of(len(r.Kinds), "kind of difference", "kinds of differences"))
	}
	if failures > 0 {
		found = append(found, plural.Of(failures, "reason")+" why only one side fails")
	}
	if r.Behaviour != nil && r.Behaviour.NotServing != nil && r.Behaviour.NotServing.Sides != regress.SidesBoth {
		found = append(found, "the controller of "+r.Behaviour.NotServing.Sides+" serves nothing")
	}
	if r.Behaviour != nil && len(r.Behaviour.Answers) > 0 {
		found = append(found, plural.Of(len(r.Behaviour.Answers), "kind of answer that differs", "kinds of answers that differ"))
	}
	if r.Cost != nil && len(r.Cost.Unexpected()) > 0 {
		found = append(found, costHeadline(r.Cost.Unexpected()))
	}
	return "The sides differ: " + strings.Join(found, ", ") + "."
}

// alike says that nothing differs. It says so only of the parts that ran.
func alike(r *regress.Report) string {
	switch {
	case r.Behaviour != nil && r.Behaviour.Unable == "":
		return "Both sides behave alike."
	case r.Behaviour != nil:
		return "Both sides render the same. No behaviour case was run."
	case slices.Contains(r.Parts, regress.RenderedPart):
		return "Both sides render the same. Their behaviour was not compared."
	case slices.Contains(r.Parts, regress.TestedPart):
		return "nginx -t accepts the same configurations of both sides. Their behaviour was not compared."
	}
	return "Both sides cost the same."
}

// expectedKinds counts the differences that are expected, of all parts.
func expectedKinds(r *regress.Report) int {
	all := len(r.Kinds)
	for _, f := range r.Failures {
		if f.Expected != nil {
			all++
		}
	}
	if r.Behaviour != nil {
		all += len(r.Behaviour.Answers)
	}
	if r.Cost != nil {
		all += len(r.Cost.Expected)
	}
	return all
}

// costHeadline names the figures that differ.
func costHeadline(all []speed.Figure) string {
	var parts []string
	for _, f := range all {
		word := costWords(f)[0]
		if f.Verdict == speed.Less {
			word = costWords(f)[1]
		}
		parts = append(parts, fmt.Sprintf("%s: %s (%+.0f %%)", f.Name, word, 100*f.Change))
	}
	return strings.Join(parts, ", ")
}

// counts says how many clusters are the same.
func counts(c regress.Clusters) string {
	if c.All == 0 {
		return "0 clusters rendered"
	}
	parts := []string{fmt.Sprintf("%s: %d byte-equal", plural.Of(c.All, "cluster"), c.Identical)}
	for _, more := range []struct {
		n    int
		what string
	}{{c.Same, "equivalent for nginx"}, {c.Differing, "different"}, {c.Failed, "that one side cannot render"}} {
		if more.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", more.n, more.what))
		}
	}
	return strings.Join(parts, ", ")
}

// sentence says what a kind of difference is. code formats a directive, and text everything that names
// parts of a configuration.
func sentence(k regress.Kind, code, text func(string) string) string {
	verb := string(k.Change)
	if k.Blocks == 1 {
		verb += "s"
	}
	where := text(report.Capital(who(k)))
	what := fmt.Sprintf("%s %s %s", where, verb, code(k.Directive))
	if k.Change == conf.Changed {
		what = fmt.Sprintf("%s %s %s to %s", where, verb, code(k.Was), code(k.Directive))
	}
	if why := because(k.Needs, k.Cause, k.Written); why != "" {
		what += " (" + text(why) + ")"
	}
	return what
}

// who names the blocks that have a difference, such as: 412 of 5000 locations.
func who(k regress.Kind) string {
	place := regress.Unit(k.Place)
	block := place[strings.LastIndexByte(place, '/')+1:]
	switch block {
	case "":
		block = "configuration"
	case "location", "server", "upstream", "map":
	default:
		block += " block"
	}
	if k.Of == 1 {
		return "the only " + block
	}
	return fmt.Sprintf("%d of %ss", k.Blocks, fmt.Sprintf("%d %s", k.Of, block))
}

// because names the settings that a difference needs, and the line of the template.
func because(needs []string, cause *regress.Cause, written regress.Written) string {
	parts := make([]string, 0, len(needs)+1)
	parts = append(parts, needs...)
	switch {
	case cause != nil && cause.Side == regress.SideBase:
		parts = append(parts, "template line "+cause.String()+" of base")
	case cause != nil:
		parts = append(parts, "template line "+cause.String())
	case written.Head != nil:
		parts = append(parts, "template line "+written.Head.String()+", which is the same on both sides")
	case written.Base != nil:
		parts = append(parts, "template line "+written.Base.String()+" of base")
	}
	return strings.Join(parts, "; ")
}

// expected says why a difference is wanted.
func expected(e *regress.Expectation) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("until %s: %s", e.Until, e.Reason)
}

// failureSentence says what a failure is. code formats its reason, and text its explanation.
func failureSentence(f regress.Failure, code, text func(string) string) string {
	what := map[string]string{regress.StageRender: "cannot render", regress.StageParse: "renders an nginx.conf that cannot be parsed for", regress.StageTest: "renders an nginx.conf that nginx -t rejects for"}[f.Stage]
	side := f.Sides
	if side == regress.SidesBoth {
		side = "each side"
	}
	said := fmt.Sprintf("%s %s %s: %s", report.Capital(side), what, plural.Of(f.Clusters, "cluster"), code(f.Reason))
	var written regress.Written
	if f.Sides == regress.SideBase {
		written.Base = f.Written
	} else {
		written.Head = f.Written
	}
	if f.Cause == nil && f.Written != nil {
		return said + " (" + text("template line "+f.Written.String()) + ")"
	}
	if why := because(f.Needs, f.Cause, written); why != "" {
		said += " (" + text(why) + ")"
	}
	return said
}

// affected names some of the affected objects.
func affected(k regress.Kind) string {
	text := strings.Join(k.Objects, ", ")
	if k.MoreObjects > 0 {
		text += fmt.Sprintf(" and %d more", k.MoreObjects)
	}
	return text
}

// where says where the example of a kind is.
func where(k regress.Kind) string {
	text := k.Example.Cluster
	if len(k.Example.Path) > 0 {
		text += ": " + strings.Join(k.Example.Path, " > ")
	}
	var lines []string
	if k.Example.BaseLine > 0 {
		lines = append(lines, fmt.Sprintf("base line %d", k.Example.BaseLine))
	}
	if k.Example.HeadLine > 0 {
		lines = append(lines, fmt.Sprintf("head line %d", k.Example.HeadLine))
	}
	return text + ", nginx.conf " + strings.Join(lines, ", ")
}

// values returns the directives of the example, if the sentence shortens them because they vary.
func values(k regress.Kind) (base, head string) {
	if !strings.Contains(k.Was+k.Directive, "…") {
		return "", ""
	}
	return k.Example.Base, k.Example.Head
}

// LuaNote is the note about Lua code that differs.
func LuaNote(changed []string) string {
	const most = 5
	names := strings.Join(changed[:min(len(changed), most)], ", ")
	if more := len(changed) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("The Lua code differs (%s). nginx -t does not run it. Only the part behaviour compares its effect on requests, once a change is live; for requests during reloads, run scenarios with windtunnel ab.", names)
}
