// Package markdown escapes untrusted text for Markdown (CommonMark, GitHub's tables). Its one rule:
// the text is shown literally, and cannot add HTML, links or table cells.
package markdown

import (
	"strings"
	"unicode"
)

var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "&", "&amp;", "<", "&lt;", ">", "&gt;",
)

// Text returns a text as one line, with all characters escaped that have a meaning in Markdown or
// HTML.
func Text(text string) string { return special.Replace(oneLine(text)) }

// Code returns a text as one line in a code span; empty for an empty text. In a table, the caller
// must still escape vertical bars, as in any cell.
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
	return fence + " " + text + " " + fence // the spaces separate the fence from backticks in the text
}

// oneLine joins the lines of a text and replaces control characters: a line break could begin a new
// block.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
