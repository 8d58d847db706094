// Package report shows the result of a sweep: as a table for terminals, as Markdown, as a page, and as
// JSON. Its one rule: it shows only what the document contains, and computes no results.
package report

import (
	"io"

	runreport "windtunnel.dev/sim/report"
	"windtunnel.dev/sim/sweep"
)

// JSON writes the document as JSON.
func JSON(w io.Writer, d sweep.Document) error { return runreport.Indented(w, d) }
