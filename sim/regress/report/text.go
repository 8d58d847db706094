package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/report"
)

// Text writes a report for a terminal.
func Text(w io.Writer, r *regress.Report) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "base: %s\nhead: %s\n%s\n\n%s\n", r.Base, r.Head, counts(r.Clusters), headline(r))
	for i, k := range r.Kinds {
		fmt.Fprintf(out, "\n%3d. %s\n", i+1, sentence(k, backticks, plain))
		detail(out, "changed", changed(k.Cause, k.Settings))
		detail(out, "expected", expected(k.Expected))
		detail(out, "example", where(k))
		base, head := values(k)
		detail(out, "base", base)
		detail(out, "head", head)
		detail(out, "objects", affected(k))
		detail(out, "smallest", smallest(k.Minimal))
	}
	for i, f := range r.Failures {
		if i == 0 {
			fmt.Fprint(out, "\nFailures\n")
		}
		fmt.Fprintf(out, "\n%3d. %s\n", i+1, failureSentence(f, plain, plain))
		detail(out, "changed", changed(f.Cause, f.Settings))
		detail(out, "expected", expected(f.Expected))
		detail(out, "line", f.Text)
		detail(out, "cluster", f.Cluster)
		detail(out, "object", f.Object)
		detail(out, "smallest", smallest(f.Minimal))
	}
	for i, line := range behaviourLines(r.Behaviour) {
		if i == 0 {
			fmt.Fprint(out, "\nBehaviour\n")
		}
		fmt.Fprintf(out, "  %s\n", line)
	}
	if r.Behaviour != nil {
		for i, a := range r.Behaviour.Answers {
			fmt.Fprintf(out, "\n%3d. %s\n", i+1, answerSentence(a))
			detail(out, "expected", expected(a.Expected))
			detail(out, "step", answerPlace(a))
			detail(out, "about", strings.Join(a.Causes, ", "))
			detail(out, "cases", strings.Join(a.Cases, ", "))
		}
	}
	for i, line := range costLines(r.Cost) {
		if i == 0 {
			fmt.Fprint(out, "\nSpeed\n")
		}
		fmt.Fprintf(out, "  %s\n", line)
	}
	if r.Cost != nil {
		costTable(out, r.Cost, false)
	}
	for i, text := range r.Untested {
		if i == 0 {
			fmt.Fprint(out, "\nNot tested\n")
		}
		fmt.Fprintf(out, "  %s\n", text)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "\nnote: %s\n", note)
	}
	_, err := io.WriteString(w, report.PlainText(out.String()))
	return err
}

func backticks(directive string) string { return "`" + directive + "`" }

func plain(text string) string { return text }

func detail(out io.Writer, what, text string) {
	if text != "" {
		fmt.Fprintf(out, "     %-9s %s\n", what, text)
	}
}

// changed says what differs between the sides and explains a difference.
func changed(c *regress.Cause, settings []string) string {
	all := slices.Clone(settings)
	if c != nil {
		all = append(all, fmt.Sprintf("%s of %s: %s", c.String(), c.Side, c.Text))
	}
	return strings.Join(all, "; ")
}

func smallest(m *regress.Minimal) string {
	switch {
	case m == nil:
		return ""
	case len(m.Objects) == 0:
		return "a cluster without objects"
	}
	text := strings.Join(m.Objects, ", ")
	if m.File != "" {
		text = m.File + ": " + text
	}
	return text
}
