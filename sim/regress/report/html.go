package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/report"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"style": report.Style, "headline": headline, "counts": counts, "where": where, "affected": affected, "changed": changed,
	"sentence": func(k regress.Kind) template.HTML {
		return template.HTML(sentence(k, codeElement, template.HTMLEscapeString))
	},
	"behaviour": behaviourLines, "answer": answerSentence, "step": answerPlace,
	"join": strings.Join, "costLines": costLines, "costRows": costRows,
	"cluster": smallest, "capital": report.Capital, "expected": expected,
	"failure": func(f regress.Failure) template.HTML {
		return template.HTML(failureSentence(f, codeElement, template.HTMLEscapeString))
	},
}).Parse(pageText))

func codeElement(text string) string { return "<code>" + template.HTMLEscapeString(text) + "</code>" }

// HTML writes a report as a page that needs no other files.
func HTML(w io.Writer, r *regress.Report) error { return page.Execute(w, r) }
