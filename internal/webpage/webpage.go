// Package webpage contains what all HTML pages share: the style sheet, the library that draws plots,
// and how a plot looks and is read with the keyboard. Its one rule: a page contains everything that it
// needs, so that it works without a network.
package webpage

import (
	"embed"
	"html/template"
	"strings"
)

//go:embed assets
var assets embed.FS

func asset(name string) string {
	data, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // cannot happen: the build fails without the embedded files
	}
	return string(data)
}

// Style returns the style sheet of all pages.
func Style() template.CSS { return template.CSS(asset("page.css")) }

// PlotStyle returns the style sheet of plots. It comes before Style.
func PlotStyle() template.CSS { return template.CSS(asset("uplot/uPlot.min.css")) }

// PlotLibrary returns the script of the library that draws plots. It comes before PlotScript.
func PlotLibrary() template.JS { return template.JS(asset("uplot/uPlot.iife.min.js")) }

// PlotScript returns a page's script as one function: the functions that all pages share (plot.js),
// and then the page's own parts, which use them.
func PlotScript(parts ...string) template.JS {
	var all strings.Builder
	all.WriteString("(function () {\n")
	all.WriteString(asset("plot.js"))
	for _, part := range parts {
		all.WriteString(part)
	}
	all.WriteString("})();")
	return template.JS(all.String())
}
