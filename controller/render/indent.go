package render

import (
	"bytes"
	"strings"
)

// indent gives every line one tab for each block it is in, and makes runs of
// blank lines one: a template can then be laid out for its own readers. A
// comment, from # to the end of its line, opens and closes nothing.
func indent(text []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(text) + len(text)/4)
	depth, blank := 0, true // no blank line at the start
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

// withoutReturns drops carriage returns; one that ends no line is a space.
func withoutReturns(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\r"), []byte(" "))
}
