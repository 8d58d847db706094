package rundir

import (
	"fmt"
	"io"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/scenario"
)

// Measured has the measurements and the checks of a run.
type Measured struct {
	Result measure.Result
	Series measure.Series
	Checks []judge.Check // of the expectations
}

// Outcome returns the outcome of a finished run, and a one-line reason.
func (m Measured) Outcome() (judge.Outcome, string) { return judge.Of(m.Result, m.Checks) }

// reports are the files that Measure writes.
var reports = []struct {
	name  string
	write func(io.Writer, Measured) error
}{
	{Result, func(w io.Writer, m Measured) error { return report.JSON(w, m.Result, m.Checks) }},
	{Page, func(w io.Writer, m Measured) error { return report.HTML(w, m.Result, m.Series, m.Checks) }},
	{Markdown, func(w io.Writer, m Measured) error { return report.Markdown(w, m.Result, m.Series, m.Checks) }},
	{JUnit, func(w io.Writer, m Measured) error { return report.JUnit(w, m.Result, m.Checks) }},
	{Bench, func(w io.Writer, m Measured) error { return report.Benchmark(w, m.Result) }},
}

// Measure measures the log of the run, checks the expectations of its scenario, and writes
// all reports beside the log.
func (d Dir) Measure(s *scenario.Scenario) (Measured, error) {
	file, err := readfile.Open(d.File(Events))
	if err != nil {
		return Measured{}, err
	}
	defer file.Close()
	var m Measured
	if m.Result, m.Series, err = measure.From(event.Read(file)); err != nil {
		return Measured{}, fmt.Errorf("%s: %w", d.File(Events), err)
	}
	d.addLogs(m.Series)
	if m.Checks, err = judge.Checks(s, m.Result); err != nil {
		return Measured{}, err
	}
	for _, r := range reports {
		if err := WriteFile(d.File(r.name), func(w io.Writer) error { return r.write(w, m) }); err != nil {
			return Measured{}, err
		}
	}
	return m, nil
}
