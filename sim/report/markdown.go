package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/measure"
)

// Markdown writes the result for a pull request: the verdict in a line, the
// expectations that do not hold, the summary, and the rest folded.
func Markdown(w io.Writer, result measure.Result, outcomes []Outcome) error {
	outcomes = Judged(result, outcomes)
	parts := []string{fmt.Sprintf("### %s: %s", markdown.Text(result.Run.Scenario), headline(result, outcomes))}
	if result.Run.Summary != "" {
		parts = append(parts, markdown.Text(result.Run.Summary))
	}
	if len(voids(result)) > 0 {
		parts = append(parts, "> **VOID**: "+markdown.Text(verdictLine(result, outcomes))+".")
	}
	if failed := brokenOutcomes(outcomes); len(failed) > 0 {
		parts = append(parts, markdownOutcomes(failed))
	}
	parts = append(parts, markdownSummary(result))
	if notes := remarks(result); notes != "" {
		var quoted []string
		for line := range strings.Lines(notes) {
			quoted = append(quoted, "> "+markdown.Text(line))
		}
		parts = append(parts, strings.Join(quoted, "\n"))
	}
	if len(outcomes) > 0 {
		parts = append(parts, fmt.Sprintf("<details><summary>%s</summary>\n\n%s\n\n</details>", plural.Of(len(outcomes), "expectation"), markdownOutcomes(outcomes)))
	}
	parts = append(parts, fmt.Sprintf("<sub>seed %d, driver %s; compare subjects within a run, not runs of different machines</sub>", result.Run.Seed, markdown.Text(result.Run.Driver)))
	if _, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n"); err != nil {
		return fmt.Errorf("writing Markdown: %w", err)
	}
	return nil
}

// headline is the verdict: void before failed, for a void run fails nothing.
func headline(result measure.Result, outcomes []Outcome) string {
	if len(voids(result)) > 0 {
		return "VOID"
	}
	if failed := len(brokenOutcomes(outcomes)); failed > 0 {
		return fmt.Sprintf("%d of %s fail%s", failed, plural.Of(len(outcomes), "expectation"), plural.Noun(failed, "s", ""))
	}
	if len(outcomes) == 0 {
		return "measured"
	}
	if len(outcomes) == 1 {
		return "the expectation holds"
	}
	return fmt.Sprintf("all %d expectations hold", len(outcomes))
}

func brokenOutcomes(outcomes []Outcome) (failed []Outcome) {
	for _, o := range outcomes {
		if !o.OK && !o.Void {
			failed = append(failed, o)
		}
	}
	return failed
}

func markdownSummary(result measure.Result) string {
	t := table.NewWriter()
	header := table.Row{""}
	for _, s := range result.Subjects {
		header = append(header, markdown.Text(s.Name))
	}
	t.AppendHeader(header)
	for _, r := range rowsOf(result) {
		line := table.Row{r.Label}
		for _, s := range result.Subjects {
			line = append(line, markdown.Text(strings.Join(r.cell(s), ", ")))
		}
		t.AppendRow(line)
	}
	return t.RenderMarkdown()
}

func markdownOutcomes(outcomes []Outcome) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"", "subject", "expectation", "actual"})
	for _, o := range outcomes {
		mark := "pass"
		switch {
		case o.Void:
			mark = notJudged
		case !o.OK:
			mark = "**fail**"
		}
		t.AppendRow(table.Row{mark, markdown.Text(o.Subject), markdown.Code(o.Text), markdown.Code(o.Actual)})
	}
	return t.RenderMarkdown()
}
