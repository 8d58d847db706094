package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/report"
)

// mostInMarkdown is the number of kinds that have their details in Markdown, so that the page fits
// into a comment of a pull request.
const mostInMarkdown = 50

// Markdown writes a report as a comment of a pull request.
func Markdown(w io.Writer, r *regress.Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "## %s\n\n", markdown.Text(headline(r)))
	fmt.Fprintf(out, "Base %s, head %s. %s.\n", markdown.Code(r.Base), markdown.Code(r.Head), markdown.Text(counts(r.Clusters)))
	for i, k := range r.Kinds {
		if i == mostInMarkdown {
			fmt.Fprintf(out, "\n%d more kinds are in the other reports.\n", len(r.Kinds)-i)
			break
		}
		fmt.Fprintf(out, "\n### %d. %s\n\n", i+1, sentence(k, markdown.Code, markdown.Text))
		item(out, "Changed", markdown.Code(changed(k.Cause, k.Settings)))
		item(out, "Expected", markdown.Text(expected(k.Expected)))
		item(out, "Example", markdown.Text(where(k)))
		base, head := values(k)
		item(out, "Base", markdown.Code(base))
		item(out, "Head", markdown.Code(head))
		item(out, "Objects", markdown.Text(affected(k)))
		fold(out, k.Minimal)
	}
	for i, f := range r.Failures {
		if i == 0 {
			fmt.Fprint(out, "\n## Failures\n")
		}
		fmt.Fprintf(out, "\n### %d. %s\n\n", i+1, failureSentence(f, markdown.Code, markdown.Text))
		item(out, "Changed", markdown.Code(changed(f.Cause, f.Settings)))
		item(out, "Expected", markdown.Text(expected(f.Expected)))
		item(out, "Line of nginx.conf", markdown.Code(f.Text))
		item(out, "Cluster", markdown.Text(f.Cluster))
		item(out, "Object", markdown.Text(f.Object))
		fold(out, f.Minimal)
	}
	for i, line := range behaviourLines(r.Behaviour) {
		if i == 0 {
			fmt.Fprint(out, "\n## Behaviour\n\n")
		}
		fmt.Fprintf(out, "* %s\n", markdown.Text(report.Capital(line)))
	}
	if r.Behaviour != nil {
		for i, a := range r.Behaviour.Answers {
			fmt.Fprintf(out, "\n### %d. %s\n\n", i+1, markdown.Text(answerSentence(a)))
			item(out, "Expected", markdown.Text(expected(a.Expected)))
			item(out, "Step", markdown.Code(answerPlace(a)))
			item(out, "About", markdown.Text(strings.Join(a.Causes, ", ")))
			item(out, "Cases", markdown.Text(strings.Join(a.Cases, ", ")))
		}
	}
	for i, line := range costLines(r.Cost) {
		if i == 0 {
			fmt.Fprint(out, "\n## Speed\n\n")
		}
		fmt.Fprintf(out, "* %s\n", markdown.Text(report.Capital(line)))
	}
	if r.Cost != nil {
		fmt.Fprintln(out)
		costTable(out, r.Cost, true)
	}
	for i, text := range r.Untested {
		if i == 0 {
			fmt.Fprint(out, "\n## Not tested\n\n")
		}
		fmt.Fprintf(out, "* %s\n", markdown.Text(text))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(out, "\n%s\n", markdown.Text(note))
	}
	return out.Flush()
}

func item(out io.Writer, what, text string) {
	if text != "" {
		fmt.Fprintf(out, "* %s: %s\n", what, text)
	}
}

// fold writes a cluster that readers can unfold.
func fold(out io.Writer, m *regress.Minimal) {
	switch {
	case m == nil:
		return
	case len(m.Objects) == 0:
		item(out, "Smallest cluster", "one without objects")
		return
	}
	fence := "```"
	for strings.Contains(m.Manifests, fence) {
		fence += "`"
	}
	fmt.Fprintf(out, "\n<details><summary>Smallest cluster</summary>\n\n%syaml\n%s\n%s\n\n</details>\n", fence, strings.TrimRight(m.Manifests, "\n"), fence)
}
