package diff

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/report"
)

// shown is how many differences of an effect a terminal shows. The other formats have all.
const shown = 20

// headline returns the result in words.
func (d Document) headline() string {
	if d.Cases == 0 {
		return "no case was compared"
	}
	differ := map[string]bool{}
	for _, one := range d.Differences {
		differ[one.Case] = true
	}
	if len(differ) == 0 {
		return fmt.Sprintf("%s: no difference", plural.Of(d.Cases, "case"))
	}
	return fmt.Sprintf("%s in %d of %s", plural.Of(len(d.Differences), "difference"), len(differ), plural.Of(d.Cases, "case"))
}

// Cause returns the causes in one text.
func (d Difference) Cause() string {
	if len(d.Causes) == 0 {
		return "no annotation, but what the controller does by default"
	}
	return strings.Join(d.Causes, ", ")
}

// Text writes the differences for a terminal.
func Text(w io.Writer, d Document) error {
	var out strings.Builder
	paint := report.Painter(w)
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	for _, g := range Groups(d.Differences) {
		line("%s", paint(text.Bold, fmt.Sprintf("%s (%d)", g.Effect.Title(), g.Steps)))
		for n, one := range g.Alike {
			if n == shown {
				line("  and %s", plural.Of(len(g.Alike)-shown, "other difference"))
				break
			}
			line("  %s:%d: %s", report.PlainLine(one.File), one.Line, report.PlainLine(one.Step))
			if also := one.Also("other step"); also != "" {
				line("    %s", also)
			}
			line("    cause: %s", paint(text.FgYellow, report.PlainLine(one.Cause())))
			for _, v := range one.Values {
				line("    %s: %s → %s", report.PlainLine(v.What), report.PlainLine(v.A), report.PlainLine(v.B))
			}
		}
		line("")
	}
	for _, one := range d.NotCompared {
		line("not compared: %s: %s", report.PlainLine(one.Case), report.PlainLine(one.Why))
	}
	line("%s; A is %s, B is %s", d.headline(), report.PlainLine(d.A), report.PlainLine(d.B))
	return write(w, out.String())
}

func write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("writing the differences: %w", err)
	}
	return nil
}

// JSON writes the document.
func JSON(w io.Writer, d Document) error {
	if err := report.Indented(w, d); err != nil {
		return fmt.Errorf("writing the differences: %w", err)
	}
	return nil
}

// Markdown writes the differences for a pull request.
func Markdown(w io.Writer, d Document) error {
	parts := []string{"### " + markdown.Text(d.headline())}
	for _, g := range Groups(d.Differences) {
		t := table.NewWriter()
		t.AppendHeader(table.Row{"step", "cause", "what", "A", "B"})
		for _, one := range g.Alike {
			for _, v := range one.Values {
				t.AppendRow(table.Row{strings.TrimSpace(markdown.Code(one.Step) + " " + one.Also("other step")), markdown.Text(one.Cause()), markdown.Text(v.What), markdown.Code(v.A), markdown.Code(v.B)})
			}
		}
		parts = append(parts, fmt.Sprintf("**%s** (%d)", g.Effect.Title(), g.Steps), t.RenderMarkdown())
	}
	if len(d.NotCompared) > 0 {
		t := table.NewWriter()
		t.AppendHeader(table.Row{"not compared", "why"})
		for _, one := range d.NotCompared {
			t.AppendRow(table.Row{markdown.Text(one.Case), markdown.Text(one.Why)})
		}
		parts = append(parts, t.RenderMarkdown())
	}
	parts = append(parts, fmt.Sprintf("<sub>A: %s, B: %s</sub>", markdown.Text(d.A), markdown.Text(d.B)))
	return write(w, strings.Join(parts, "\n\n")+"\n")
}

//go:embed page.html
var pageFile embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"style": report.Style, "plural": plural.Of, "cause": Difference.Cause, "capital": report.Capital,
}).ParseFS(pageFile, "page.html"))

// HTML writes a single page that needs no network and no other files.
func HTML(w io.Writer, d Document) error {
	if err := page.Execute(w, map[string]any{"Document": d, "Groups": Groups(d.Differences), "Headline": d.headline()}); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
