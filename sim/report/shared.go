package report

import (
	"html/template"
	"io"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/webpage"
)

// The following is shared with the report of behaviour cases, so that all reports look alike.

// Style returns the style sheet of HTML reports.
func Style() template.CSS { return webpage.Style() }

// Painter returns a function that colours text if w is a terminal and NO_COLOR
// (https://no-color.org) is not set.
func Painter(w io.Writer) func(text.Color, string) string { return painter(w) }

// NewTable returns an empty table for terminals.
func NewTable() table.Writer { return newTable() }

// PlainLine returns a text as one line without control characters: text of a controller must not
// break a line or control the terminal.
func PlainLine(text string) string { return plainLine(text) }

// PlainText is PlainLine for texts of several lines.
func PlainText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, text)
}
