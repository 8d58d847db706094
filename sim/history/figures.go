package history

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/perf/benchfmt"

	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/rundir"
)

// parseFigures parses benchmark lines, as sim/report writes them, and returns the figures by subject.
// The lines contain only the figures that were known at the time of the run, while result.json would
// give zero for a figure that was added later. Units that are not those of a figure are ignored.
func parseFigures(lines []byte) (map[string]map[string]float64, error) {
	names := map[string]string{} // by unit
	for _, figure := range measure.Figures() {
		names[figure.Unit] = figure.Name
	}
	all := map[string]map[string]float64{}
	for reader := benchfmt.NewReader(bytes.NewReader(lines), rundir.Bench); reader.Scan(); {
		switch line := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, line
		case *benchfmt.Result:
			subject, err := subjectOf(line)
			if err != nil {
				return nil, err
			}
			all[subject] = map[string]float64{}
			for _, value := range line.Values {
				if name, known := names[unitOf(value)]; known {
					all[subject][name] = original(value)
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New(rundir.Bench + " has no line of a subject")
	}
	return all, nil
}

// subjectOf returns the subject in a line's name, which ends with /subject=NAME.
func subjectOf(line *benchfmt.Result) (string, error) {
	_, subject, found := strings.Cut(line.Name.String(), "/subject=")
	if !found {
		return "", fmt.Errorf("%s: the line of %s names no subject", rundir.Bench, line.Name)
	}
	return subject, nil
}

// unitOf returns the original unit of a value. The reader converts some units, such as ns to sec.
func unitOf(v benchfmt.Value) string {
	if v.OrigUnit != "" {
		return v.OrigUnit
	}
	return v.Unit
}

func original(v benchfmt.Value) float64 {
	if v.OrigUnit != "" {
		return v.OrigValue
	}
	return v.Value
}
