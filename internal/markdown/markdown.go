// Package markdown writes text that others chose into Markdown, so that it is
// shown as it is: no HTML, no links, no tables of its own (CommonMark, GitHub's
// tables).
package markdown

import (
	"strings"
	"unicode"
)

var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "&", "&amp;", "<", "&lt;", ">", "&gt;",
)

// Text is a text in one line, with everything escaped that Markdown or HTML would read.
func Text(text string) string { return special.Replace(oneLine(text)) }

// Code is a text in one line as a code span, empty for an empty one. In a table its bars
// must still be escaped, as in any cell.
func Code(text string) string {
	text = oneLine(text)
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) == 1 {
		return fence + text + fence
	}
	return fence + " " + text + " " + fence // a space keeps the text's own backticks apart
}

// oneLine joins the lines of a text, without control characters: a line break would
// begin a block of its own.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
