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
	"sentence":  func(k regress.Kind) string { return sentence(k, backticks, plain) },
	"behaviour": behaviourLines, "answer": answerSentence, "step": answerPlace,
	"join": strings.Join, "costLines": costLines, "costRows": costRows,
	"cluster": smallest, "expected": expected,
	"failure": func(f regress.Failure) string { return failureSentence(f, plain, plain) },
}).Parse(pageText))

// HTML writes a report as a page that needs no other files.
func HTML(w io.Writer, r *regress.Report) error { return page.Execute(w, r) }
