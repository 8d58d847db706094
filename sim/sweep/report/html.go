package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"

	"windtunnel.dev/internal/webpage"
	"windtunnel.dev/sim/sweep"
)

//go:embed page.html plot.js
var files embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"style": webpage.Style, "plotStyle": webpage.PlotStyle, "plotLibrary": webpage.PlotLibrary, "plotScript": plotScript,
}).ParseFS(files, "page.html"))

// plotScript returns the script that draws the plots of the page.
func plotScript() template.JS {
	own, err := files.ReadFile("plot.js")
	if err != nil {
		panic(err) // cannot happen: the build fails without the embedded files
	}
	return webpage.PlotScript(string(own))
}

// HTML writes a single page that needs no network and no other files.
func HTML(w io.Writer, d sweep.Document) error {
	drawn := plots(d)
	var environment [][2]string
	for _, name := range slices.Sorted(maps.Keys(d.Environment)) {
		environment = append(environment, [2]string{name, d.Environment[name]})
	}
	err := page.Execute(w, map[string]any{
		"Document": d, "Headline": headline(d), "Tables": tables(d), "Notes": notes(d), "Plots": drawn,
		"Drawn": map[string]any{"subjects": drawn}, "Environment": environment,
	})
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
