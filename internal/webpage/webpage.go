// Package webpage contains the parts that all HTML pages share: the style sheet, the library that draws
// plots, and the functions for the look and the keyboard control of plots. Its one rule: a page contains
// everything that it needs, so that it works without a network.
package webpage

import (
	"embed"
	"html/template"
	"strings"
)

//go:embed assets
var assets embed.FS

// Asset returns the content of an embedded file of a package's folder assets. It panics if there is no
// such file.
func Asset(embedded embed.FS, name string) string {
	data, err := embedded.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the name is a constant, so a test of the page finds this
	}
	return string(data)
}

// Style returns the style sheet of all pages.
func Style() template.CSS { return template.CSS(Asset(assets, "page.css")) }

// PlotStyle returns the style sheet of plots. It comes before Style.
func PlotStyle() template.CSS { return template.CSS(Asset(assets, "uplot/uPlot.min.css")) }

// PlotLibrary returns the script of the library that draws plots. It comes before PlotScript.
func PlotLibrary() template.JS { return template.JS(Asset(assets, "uplot/uPlot.iife.min.js")) }

// PlotScript returns a page's script as one function: the functions that all pages share (plot.js),
// and then the page's own parts, which use them.
func PlotScript(parts ...string) template.JS {
	var all strings.Builder
	all.WriteString("(function () {\n")
	all.WriteString(Asset(assets, "plot.js"))
	for _, part := range parts {
		all.WriteString(part)
	}
	all.WriteString("})();")
	return template.JS(all.String())
}
