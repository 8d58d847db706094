package render

import (
	"bytes"
	"strings"
)

// indent indents each line with one tab per block and merges consecutive blank lines, so templates
// can have their own layout. Braces in a comment, from # to the end of the line, do not count.
func indent(text []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(text) + len(text)/4)
	depth, blank := 0, true // true at the start, so no blank line comes first
	for line := range bytes.SplitSeq(withoutReturns(text), []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			if !blank {
				out.WriteByte('\n')
			}
			blank = true
			continue
		}
		blank = false
		code, _, _ := bytes.Cut(line, []byte("#"))
		closing := len(code) - len(bytes.TrimLeft(code, "}"))
		out.WriteString(strings.Repeat("\t", max(depth-closing, 0)))
		out.Write(line)
		out.WriteByte('\n')
		depth = max(depth+bytes.Count(code, []byte("{"))-bytes.Count(code, []byte("}")), 0)
	}
	return append(bytes.TrimRight(out.Bytes(), "\n"), '\n')
}

// withoutReturns removes carriage returns at the ends of lines and replaces others with spaces.
func withoutReturns(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\r"), []byte(" "))
}
