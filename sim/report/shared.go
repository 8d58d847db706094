package report

import (
	"html/template"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/markdown"
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

// Cells returns a row of a table. escape makes a text safe for where the table is shown.
func Cells(row []string, escape func(string) string) table.Row {
	var made table.Row
	for _, cell := range row {
		made = append(made, escape(cell))
	}
	return made
}

// MarkdownTable returns a table in Markdown, with escaped cells.
func MarkdownTable(header []string, rows [][]string) string {
	t := table.NewWriter()
	t.AppendHeader(Cells(header, markdown.Text))
	for _, row := range rows {
		t.AppendRow(Cells(row, markdown.Text))
	}
	return t.RenderMarkdown()
}

// PlainLine returns a text as one line without control characters: text of a controller must not
// break a line or control the terminal.
func PlainLine(text string) string { return plainLine(text) }

// Shortened returns the first bytes of a text, as whole characters, with an ellipsis if it is longer.
func Shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Capital returns a text with a capital first letter, for a heading.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// PlainText is PlainLine for texts of several lines.
func PlainText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' {
			return ' '
		}
		return r
	}, text)
}
