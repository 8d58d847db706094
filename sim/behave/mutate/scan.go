package mutate

import (
	"strings"
)

// span is a piece of a line of a template: text, or an action.
type span struct {
	text   string
	action bool
	word   string // of an action: its first word, such as if; "comment" for a comment
	rest   string // of an action: what follows that word
}

// line is a line of a template.
type line struct {
	number int // from 1
	text   string
	note   string // the end of text, from the # of a comment of nginx
	fixed  string // what is outside of actions and of the note
	spans  []span
	within bool // it begins within an action, a quoted argument of nginx, or a block of Lua
	opens  int  // if, range, with, define and block, less ends
	lowest int  // the lowest value of opens while the line is read
	branch int  // for lines with the else of an earlier line: the number of that line; otherwise 0
	starts bool // it begins a statement of nginx
}

// scan divides a template into lines. It never fails: a text that is not a valid template has lines
// as well.
func scan(text string) []line {
	var lines []line
	s := scanner{starts: true}
	for i, content := range strings.Split(text, "\n") {
		lines = append(lines, s.line(i+1, content))
	}
	return lines
}

// scanner holds the constructs that the lines so far leave open.
type scanner struct {
	opened   []int   // numbers of the lines that open blocks of the template
	inAction bool    // an action goes on in the next line
	comment  bool    // that action is a comment
	state    outside // of the text outside actions
	starts   bool    // the next line begins a statement of nginx
}

// line reads the next line.
func (s *scanner) line(number int, content string) line {
	l := line{number: number, text: content, within: s.inAction || s.state.quote != 0 || s.state.lua > 0, starts: s.starts}
	s.readSpans(&l)
	quoted := s.state.quote != 0
	text := l.outside()
	end := len(text)
	if !l.within || quoted || s.state.lua > 0 {
		end = s.state.read(text)
	}
	l.fixed = strings.TrimSpace(text[:end])
	if end < len(text) {
		l.note = l.after(end)
	}
	if l.fixed != "" && (!l.within || quoted) {
		s.starts = strings.HasSuffix(l.fixed, ";") || strings.HasSuffix(l.fixed, "{") || strings.HasSuffix(l.fixed, "}")
	}
	return l
}

// readSpans divides a line into actions and the text between them.
func (s *scanner) readSpans(l *line) {
	rest := l.text
	if s.inAction {
		end := actionEnd(rest)
		if s.comment {
			end = commentEnd(rest)
		}
		if end < 0 {
			return
		}
		s.inAction, rest = false, rest[end:]
	}
	for rest != "" {
		before, _, found := strings.Cut(rest, "{{")
		if before != "" {
			l.spans = append(l.spans, span{text: before})
		}
		if !found {
			return
		}
		rest = rest[len(before):]
		end := actionEnd(rest)
		if end < 0 {
			unfinished := parseAction(rest)
			s.inAction, s.comment, l.within = true, unfinished.word == "comment", true
			s.nest(l, unfinished.word)
			return
		}
		action := parseAction(rest[:end])
		l.spans = append(l.spans, action)
		s.nest(l, action.word)
		rest = rest[end:]
	}
}

// nest notes that a line opens, continues or ends a block of the template.
func (s *scanner) nest(l *line, word string) {
	last := len(s.opened) - 1
	switch word {
	case "if", "range", "with", "define", "block":
		l.opens++
		s.opened = append(s.opened, l.number)
	case "else":
		l.lowest = min(l.lowest, l.opens-1)
		if last >= 0 && s.opened[last] != l.number {
			l.branch = s.opened[last]
		}
	case "end":
		l.opens--
		l.lowest = min(l.lowest, l.opens)
		if last >= 0 {
			s.opened = s.opened[:last]
		}
	}
}

// actionEnd returns the length of the action at the start of a text, or a negative number if the
// action does not end in it.
func actionEnd(text string) int {
	if i := strings.Index(text, "/*"); i >= 0 && strings.Trim(text[:i], "{- ") == "" {
		return commentEnd(text)
	}
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`':
			quote = c
		case strings.HasPrefix(text[i:], "}}"):
			return i + 2
		}
	}
	return -1
}

// commentEnd is actionEnd for a comment, which can contain anything else.
func commentEnd(text string) int {
	end := strings.Index(text, "*/")
	if end < 0 {
		return -1
	}
	if closed := strings.Index(text[end:], "}}"); closed >= 0 {
		return end + closed + 2
	}
	return -1
}

// parseAction reads an action with its braces.
func parseAction(text string) span {
	inner := strings.TrimSuffix(strings.TrimPrefix(text, "{{"), "}}")
	if trimmed, ok := strings.CutPrefix(inner, "- "); ok {
		inner = trimmed
	}
	inner = strings.TrimSpace(strings.TrimSuffix(inner, " -"))
	if strings.HasPrefix(inner, "/*") {
		return span{text: text, action: true, word: "comment"}
	}
	word, rest, _ := strings.Cut(inner, " ")
	return span{text: text, action: true, word: word, rest: strings.TrimSpace(rest)}
}

// outside returns the text of a line outside of actions.
func (l line) outside() string {
	var text strings.Builder
	for _, s := range l.spans {
		if !s.action {
			text.WriteString(s.text)
		}
	}
	return text.String()
}

// after returns what follows the first n bytes outside of actions.
func (l line) after(n int) string {
	var text strings.Builder
	for _, s := range l.spans {
		skip := 0
		if !s.action {
			skip = min(n, len(s.text))
			n -= skip
		}
		if n == 0 {
			text.WriteString(s.text[skip:])
		}
	}
	return text.String()
}

// balanced reports whether the line closes exactly the blocks that it opens.
func (l line) balanced() bool { return l.opens == 0 && l.lowest == 0 && l.branch == 0 }

// outside is the state of nginx's syntax at the beginning of a line.
type outside struct {
	quote byte // of an argument that goes on in the next line; 0 if there is none
	lua   int  // open braces of a block of Lua; 0 outside of one
}

// read reads a line and returns where its comment begins, or else its length.
func (o *outside) read(text string) int {
	end, trimmed := len(text), strings.TrimLeft(text, " \t")
	if o.quote == 0 && o.lua == 0 && strings.HasPrefix(trimmed, "#") {
		return end - len(trimmed)
	}
	if i := strings.Index(text, "_by_lua_block {"); o.lua == 0 && o.quote == 0 && i >= 0 {
		text, o.lua = text[i+len("_by_lua_block {"):], 1
	}
	if o.lua > 0 {
		o.lua = max(o.lua+strings.Count(text, "{")-strings.Count(text, "}"), 0)
		return end
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case o.quote != 0:
			if c == o.quote {
				o.quote = 0
			}
		case (c == '"' || c == '\'') && (i == 0 || strings.IndexByte(" \t=", text[i-1]) >= 0):
			o.quote = c
		case c == '#' && i > 0 && strings.IndexByte(" \t;", text[i-1]) >= 0:
			return i
		}
	}
	return end
}
