package report

import (
	"html/template"

	"windtunnel.dev/internal/webpage"
	"windtunnel.dev/sim/measure"
)

// Plots returns the script that draws the plots: the files of the folder plots, and then main in a scope
// of its own. main calls use with the timelines, and drawAll. The script needs the script of Library.
func Plots(main string) template.JS {
	var parts []string
	for _, part := range []string{"base", "zoom", "moments", "latency", "heat", "failures", "generations", "cdf", "drain", "draw"} {
		parts = append(parts, asset("plots/"+part+".js"))
	}
	return webpage.PlotScript(append(parts, "{\n"+main+"}\n")...)
}

// Library returns the script and the style sheet of the library that draws the plots.
func Library() (template.JS, template.CSS) { return webpage.PlotLibrary(), webpage.PlotStyle() }

// Figures adds the templates of the plots to those of a page: "convergence", "zoom", which controls what
// the plots over time show, and "figures" of a Plotted.
func Figures(page *template.Template) *template.Template {
	return template.Must(page.ParseFS(assets, "assets/figures.html", "assets/moments.html"))
}

// Plotted is a subject for the template "figures": its place in the script's timelines, and what its
// captions say of it.
type Plotted struct {
	measure.Timeline
	Index   int
	Ongoing bool // the timeline is not complete yet
	Moments []moment
}

func plottedOf(series measure.Series) (all []Plotted) {
	for i, t := range series.Subjects {
		all = append(all, Plotted{Timeline: t, Index: i, Moments: momentsOf(i, t)})
	}
	return all
}
