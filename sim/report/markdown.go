package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// Markdown writes the result for a pull request: the outcome in one line, the answers, the expectations
// that are not met, the summary, and all expectations in a collapsed section.
func Markdown(w io.Writer, result measure.Result, series measure.Series, checks []judge.Check) error {
	parts := []string{fmt.Sprintf("### %s: %s", markdown.Text(result.Run.Scenario), headline(result, checks))}
	parts = append(parts, markdownAnswers(answersOf(result, series, checks)))
	if broken := unmet(checks); len(broken) > 0 {
		parts = append(parts, markdownChecks(broken))
	}
	parts = append(parts, markdownSummary(result))
	if notes := remarks(result); notes != "" {
		var quoted []string
		for line := range strings.Lines(notes) {
			quoted = append(quoted, "> "+markdown.Text(line))
		}
		parts = append(parts, strings.Join(quoted, "\n"))
	}
	if len(checks) > 0 {
		parts = append(parts, fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n\n</details>", plural.Of(len(checks), "expectation"), markdownChecks(checks)))
	}
	parts = append(parts, fmt.Sprintf("<sub>seed %d, driver %s; compare subjects within a run, not runs of different machines</sub>", result.Run.Seed, markdown.Text(result.Run.Driver)))
	if _, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n"); err != nil {
		return fmt.Errorf("writing Markdown: %w", err)
	}
	return nil
}

// markdownAnswers writes the answers as a list.
func markdownAnswers(a answers) string {
	var lines []string
	for _, one := range a.lines() {
		line := "- **" + one.Question + ":** " + markdown.Text(one.Texts[0])
		for _, more := range one.Texts[1:] {
			line += "\n  - " + markdown.Text(more)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// headline returns the outcome in words.
func headline(result measure.Result, checks []judge.Check) string {
	outcome, _ := judge.Of(result, checks)
	broken := len(unmet(checks))
	switch {
	case outcome == judge.Void:
		return "VOID"
	case outcome == judge.Failed:
		return fmt.Sprintf("%d of %s fail%s", broken, plural.Of(len(checks), "expectation"), plural.Noun(broken, "s", ""))
	case outcome == judge.Inapplicable:
		return "measured, but no expectation applies"
	case len(checks) == 0:
		return "measured"
	}
	return heldExpectations(countChecks(checks))
}

// heldExpectations says how many expectations hold if none fails.
func heldExpectations(count map[judge.Verdict]int) string {
	text := "the expectation holds"
	if count[judge.Met] != 1 {
		text = fmt.Sprintf("all %d expectations hold", count[judge.Met])
	}
	if n := count[judge.NotApplicable]; n > 0 {
		text = fmt.Sprintf("%s, %d not applicable", text, n)
	}
	return text
}

// unmet returns the checks of expectations that are judged and not met.
func unmet(checks []judge.Check) []judge.Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c judge.Check) bool { return c.Verdict() != judge.NotMet })
}

func markdownSummary(result measure.Result) string {
	t := table.NewWriter()
	header := table.Row{"figure"}
	for _, s := range result.Subjects {
		header = append(header, markdown.Text(s.Name))
	}
	t.AppendHeader(header)
	for _, r := range rowsOf(result) {
		line := table.Row{r.Label}
		for _, s := range result.Subjects {
			line = append(line, markdown.Text(strings.Join(r.lines(s), ", ")))
		}
		t.AppendRow(line)
	}
	return t.RenderMarkdown()
}

func markdownChecks(checks []judge.Check) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"verdict", "subject", "expectation", "actual"})
	for _, c := range checks {
		mark := checkMarks[c.Verdict()]
		if c.Verdict() == judge.NotMet {
			mark = "**fail**"
		}
		actual := markdown.Code(c.Actual)
		if c.NotApplicable != "" {
			actual = markdown.Text(c.NotApplicable)
		}
		t.AppendRow(table.Row{mark, markdown.Text(c.Subject), markdown.Code(c.Text), actual})
	}
	return t.RenderMarkdown()
}
