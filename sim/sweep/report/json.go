// Package report shows the result of a sweep: as a table for terminals, as Markdown, as a page, and as
// JSON. It stands between the document of a sweep and its readers. Its one rule: it computes nothing that
// the document lacks.
package report

import (
	"io"

	runreport "windtunnel.dev/sim/report"
	"windtunnel.dev/sim/sweep"
)

// JSON writes the document as JSON.
func JSON(w io.Writer, d sweep.Document) error { return runreport.Indented(w, d) }
