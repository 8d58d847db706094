package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"sync"

	"windtunnel.dev/internal/webpage"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/scenario"
)

//go:embed assets
var assets embed.FS

// file is a file of the page.
type file struct {
	kind    string // its media type
	content []byte
}

var page = sync.OnceValue(func() *template.Template {
	return template.Must(report.Figures(template.New("page.html")).ParseFS(assets, "assets/page.html"))
})

// render returns the files of the page, by their names.
func render(s *scenario.Scenario) (map[string]file, error) {
	var plotted []report.Plotted
	for i, subject := range s.Subjects {
		one := report.Plotted{Timeline: measure.Timeline{Name: subject.Name}, Index: i, Ongoing: true}
		for _, lane := range s.Lanes() {
			one.Heat = append(one.Heat, measure.Heat{Lane: lane})
		}
		plotted = append(plotted, one)
	}
	var html bytes.Buffer
	if err := page().Execute(&html, map[string]any{"Scenario": s, "Plotted": plotted}); err != nil {
		return nil, fmt.Errorf("the page of the run: %w", err)
	}
	script, style := report.Library()
	const scripts, styles = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
	return map[string]file{
		"page.html": {"text/html; charset=utf-8", html.Bytes()},
		"page.js":   {scripts, []byte(string(script) + "\n" + string(report.Plots(asset("page.js"))))},
		"page.css":  {styles, []byte(string(style) + "\n" + string(report.Style()) + "\n" + asset("page.css"))},
	}, nil
}

func asset(name string) string { return webpage.Asset(assets, name) }
