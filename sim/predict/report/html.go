package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/report"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"style": report.Style, "format": Format, "interval": Interval, "percent": Percent, "number": number, "plural": plural.Of,
	"values": values, "asked": asked, "names": func(a predict.Answer) []string { return slices.Sorted(maps.Keys(a.Values)) },
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

// asked returns the rows that describe the question, with the values of all answers of a sweep.
func asked(p *predict.Prediction) (rows [][2]string) {
	row := func(name string, of func(predict.Answer) string) {
		var distinct []string
		for _, a := range p.Answers {
			if value := of(a); !slices.Contains(distinct, value) {
				distinct = append(distinct, value)
			}
		}
		rows = append(rows, [2]string{name, strings.Join(distinct, "; ")})
	}
	row("ingresses", func(a predict.Answer) string { return number(float64(a.Cluster.Ingresses)) })
	row("services", func(a predict.Answer) string { return number(float64(a.Cluster.Services)) })
	row("endpoints", func(a predict.Answer) string { return number(float64(a.Cluster.Endpoints)) })
	row("sync-rate-limit", func(a predict.Answer) string { return fmt.Sprint(a.Settings.SyncRate) })
	row("worker-processes", func(a predict.Answer) string { return fmt.Sprint(a.Settings.Workers) })
	row("worker-shutdown-timeout", func(a predict.Answer) string { return fmt.Sprint(a.Settings.ShutdownTimeout) })
	for _, c := range p.Question.Changes {
		kind := string(c.Kind)
		row("changes", func(a predict.Answer) string { return kind + " " + cmp.Or(a.Values[kind], fmt.Sprint(c.Rate)) })
	}
	for _, t := range p.Question.Traffic {
		row("traffic", func(a predict.Answer) string { return t.Lane + " " + cmp.Or(a.Values[t.Lane], fmt.Sprint(t.Rate)) })
	}
	row("changes for", func(a predict.Answer) string { return cmp.Or(a.Values["for"], fmt.Sprint(p.Question.For)) })
	return rows
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
