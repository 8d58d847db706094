package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/report"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"style": report.Style, "format": Format, "interval": Interval, "percent": Percent, "number": number, "plural": plural.Of,
	"values": values, "names": func(a predict.Answer) []string { return slices.Sorted(maps.Keys(a.Values)) },
	"label": func(name string) string { return found(name).Label },
	"doc":   func(name string) string { return found(name).Doc },
	"error": func(v predict.Value) string { return errorOf(found(v.Name), v.Error) },
	"named": valueOf, "shown": func() []string { return shown },
	"good": func(share float64) bool { return share >= Sure },
	"frame": func() map[string]float64 {
		return map[string]float64{"width": width, "height": height, "left": left, "right": width - right, "top": top, "bottom": height - bottom}
	},
}).Parse(pageText))

func found(name string) figure.Figure {
	f, _ := figure.Find(name)
	return f
}

// HTML writes a prediction as a page that needs no network and no other files.
func HTML(w io.Writer, p *predict.Prediction) error {
	conclusion := ""
	if len(p.Answers) > 1 && len(p.Answers[0].Conditions) > 0 {
		conclusion = Conclusion(p)
	}
	err := page.Execute(w, map[string]any{"Prediction": p, "Remarks": Remarks(p), "Conclusion": conclusion, "Plots": plots(p), "First": p.Answers[0]})
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
