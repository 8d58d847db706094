package render

import (
	"bytes"
	"strings"
)

// indent indents each line with one tab per block and merges consecutive blank lines, so templates
// can have their own layout. Braces in comments and between quotes do not count.
func indent(text []byte) []byte {
	var out bytes.Buffer
	indentTo(&out, text, 0)
	return out.Bytes()
}

// indentTo writes an indented text to an empty buffer. depth is the number of enclosing blocks.
func indentTo(out *bytes.Buffer, text []byte, depth int) {
	out.Grow(len(text) + len(text)/4)
	blank := true // true at the start, so no blank line comes first
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
		closing := len(line) - len(bytes.TrimLeft(line, "}"))
		writeTabs(out, max(depth-closing, 0))
		out.Write(line)
		out.WriteByte('\n')
		depth = max(depth+opened(line), 0)
	}
	out.Truncate(len(bytes.TrimRight(out.Bytes(), "\n")))
	out.WriteByte('\n')
}

// opened returns how many more blocks a line opens than it closes. As in nginx, a comment or a
// quoted parameter begins only between words (ngx_conf_read_token).
func opened(line []byte) int {
	if bytes.IndexByte(line, '{') < 0 && bytes.IndexByte(line, '}') < 0 {
		return 0 // most lines
	}
	blocks := 0
	var quote, before byte = 0, ' '
	for i := 0; i < len(line); i++ {
		char := line[i]
		switch {
		case char == '\\':
			i++ // the next character is literal
		case quote != 0:
			if char == quote {
				quote = 0
			}
		case char == '{':
			blocks++
		case char == '}':
			blocks--
		case strings.IndexByte(" \t;{}", before) < 0:
		case char == '#':
			return blocks
		case char == '"' || char == '\'':
			quote = char
		}
		before = char
	}
	return blocks
}

func writeTabs(out *bytes.Buffer, n int) {
	const tabs = "\t\t\t\t\t\t\t\t"
	for ; n > len(tabs); n -= len(tabs) {
		out.WriteString(tabs)
	}
	out.WriteString(tabs[:n])
}

// withoutReturns removes carriage returns at the ends of lines and replaces others with spaces.
func withoutReturns(text []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 {
		return text
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(text, []byte("\r"), []byte(" "))
}
