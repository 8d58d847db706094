package rundir

import (
	"io"
	"path/filepath"
	"strings"
	"time"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/subject"
)

// Bounds of the lines of a log that are kept for a moment.
const (
	logBefore = time.Second
	logAfter  = 500 * time.Millisecond
	mostLog   = 64 << 10 // bytes
	mostLines = 20
	mostLine  = 500 // bytes
)

// addLogs adds to the moments in which requests failed the lines that the controllers logged around them.
// It skips logs that are gone, or whose lines have no times.
func (d Dir) addLogs(series measure.Series) {
	for _, t := range series.Subjects {
		for i := range t.Moments {
			m := &t.Moments[i]
			if begin, end, ok := t.LogAround(m.From-logBefore, m.Until+logAfter); ok {
				m.Log = d.logLines(t.Name, begin, end)
			}
		}
	}
}

// logLines returns the lines of a subject's log between two places; the first ones, if there are many.
// An end of -1 is that of the file.
func (d Dir) logLines(name string, begin, end int64) []string {
	file, err := readfile.Open(d.File(filepath.Join(name, subject.LogName)))
	if err != nil {
		return nil
	}
	defer file.Close()
	most := int64(mostLog)
	if end >= 0 {
		most = min(most, end-begin)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, begin, most))
	if err != nil {
		return nil
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if len(lines) == mostLines {
			return append(lines, "…")
		}
		lines = append(lines, report.Shortened(strings.TrimRight(line, "\r\n"), mostLine))
	}
	return lines
}
