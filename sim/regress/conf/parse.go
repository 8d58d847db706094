// Package conf reads configurations of nginx into trees, and compares two of them. Its one rule: it
// is pure, and it ignores the order of directives only where nginx does; the tables in order.go say
// where that is.
//
// It has its own parser, because the kept one (github.com/tufanbarisyildirim/gonginx) fails on
// configurations that controllers render: it refuses strings that end in an escaped backslash
// ("/a\\") and Lua blocks with a brace in a string or with the length operator (#t), splits
// unquoted arguments at an escaped semicolon, and reports the line where a directive ends
// instead of the one where it begins.
package conf

import (
	"fmt"
	"strings"
)

// Directive is a directive with its arguments, as nginx reads them: without quotes and escapes.
type Directive struct {
	Name  string
	Args  []string
	Line  int // of its first word, from 1
	Last  int // of the semicolon or the opening brace
	Block []*Directive
	// IsBlock reports whether it has a block, which can be empty.
	IsBlock bool
	// Lua is the code of a block that Lua reads. Such a directive has no Block.
	Lua string

	sum uint64
}

// String returns the directive on one line, without its block.
func (d *Directive) String() string {
	words := []string{d.Name}
	for _, arg := range d.Args {
		words = append(words, quoted(arg))
	}
	text := strings.Join(words, " ")
	if d.IsBlock {
		return text + " {…}"
	}
	return text
}

func quoted(arg string) string {
	if arg != "" && !strings.ContainsAny(arg, " \t\r\n;{}\"'\\") && arg[0] != '#' {
		return arg
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(arg) + `"`
}

// Parse reads a configuration. An error has the form "line N: what".
func Parse(text string) ([]*Directive, error) {
	p := parser{text: text, line: 1}
	all, err := p.block(false)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		d.hash()
	}
	return all, nil
}

// parser splits a text by the rules of nginx (ngx_conf_read_token in ngx_conf_file.c).
type parser struct {
	text string
	at   int
	line int
}

func (p *parser) errorf(line int, format string, values ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{line}, values...)...)
}

func (p *parser) block(inner bool) ([]*Directive, error) {
	begin := p.line
	var all []*Directive
	for {
		p.skip()
		if p.at >= len(p.text) {
			if inner {
				return nil, p.errorf(begin, "this block does not end")
			}
			return all, nil
		}
		if p.text[p.at] == '}' {
			if !inner {
				return nil, p.errorf(p.line, "a closing brace without a block")
			}
			p.at++
			return all, nil
		}
		d, err := p.directive()
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
}

func (p *parser) directive() (*Directive, error) {
	d := &Directive{Line: p.line}
	for words := 0; ; words++ {
		p.skip()
		if p.at >= len(p.text) {
			return nil, p.errorf(d.Line, "a directive does not end with a semicolon")
		}
		switch c := p.text[p.at]; {
		case c == ';' && words == 0:
			return nil, p.errorf(p.line, "a semicolon without a directive")
		case c == ';':
			d.Last = p.line
			p.at++
			return d, nil
		case c == '{':
			d.Last, d.IsBlock = p.line, true
			p.at++
			var err error
			if strings.HasSuffix(d.Name, "_by_lua_block") {
				d.Lua, err = p.lua()
			} else {
				d.Block, err = p.block(true)
			}
			return d, err
		case c == '}':
			return nil, p.errorf(p.line, "a block ends in a directive that begins in line %d", d.Line)
		}
		word, err := p.word()
		if err != nil {
			return nil, err
		}
		if words == 0 {
			d.Name = word
		} else {
			d.Args = append(d.Args, word)
		}
	}
}

// skip skips spaces and comments.
func (p *parser) skip() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '\n':
			p.line++
		case ' ', '\t', '\r':
		case '#':
			if end := strings.IndexByte(p.text[p.at:], '\n'); end >= 0 {
				p.at += end
			} else {
				p.at = len(p.text)
			}
			continue
		default:
			return
		}
		p.at++
	}
}

// word reads a word, with or without quotes.
func (p *parser) word() (string, error) {
	begin, line := p.at, p.line
	if quote := p.text[p.at]; quote == '"' || quote == '\'' {
		for p.at++; p.at < len(p.text); p.at++ {
			switch p.text[p.at] {
			case '\\':
				p.at++
				if p.at < len(p.text) && p.text[p.at] == '\n' {
					p.line++
				}
			case '\n':
				p.line++
			case quote:
				p.at++
				return unescape(p.text[begin+1 : p.at-1]), nil
			}
		}
		return "", p.errorf(line, "a quoted word does not end")
	}
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case '$':
			if strings.HasPrefix(p.text[p.at:], "${") {
				p.at++
			}
		case ' ', '\t', '\r', '\n', ';', '{':
			return unescape(p.text[begin:p.at]), nil
		}
		p.at++
	}
	p.at = min(p.at, len(p.text))
	return unescape(p.text[begin:p.at]), nil
}

var escapes = map[byte]byte{'"': '"', '\'': '\'', '\\': '\\', 't': '\t', 'r': '\r', 'n': '\n'}

// unescape replaces the escapes that nginx replaces. It keeps other backslashes, such as those of
// regular expressions.
func unescape(word string) string {
	if strings.IndexByte(word, '\\') < 0 {
		return word
	}
	var out strings.Builder
	for i := 0; i < len(word); i++ {
		if word[i] == '\\' && i+1 < len(word) {
			if c, ok := escapes[word[i+1]]; ok {
				out.WriteByte(c)
				i++
				continue
			}
		}
		out.WriteByte(word[i])
	}
	return out.String()
}

// lua reads the code up to the brace that closes its block. Braces in strings and comments do not
// count.
func (p *parser) lua() (string, error) {
	begin, line := p.at, p.line
	for depth := 1; p.at < len(p.text); {
		rest := p.text[p.at:]
		length := 1
		switch c := rest[0]; {
		case c == '{':
			depth++
		case c == '}':
			depth--
			if depth == 0 {
				code := p.text[begin:p.at]
				p.at++
				return code, nil
			}
		case c == '"' || c == '\'':
			length = luaString(rest)
		case strings.HasPrefix(rest, "--"):
			length = 2 + longBracket(rest[2:])
			if length == 2 {
				length = len(rest)
				if end := strings.IndexByte(rest, '\n'); end >= 0 {
					length = end
				}
			}
		case c == '[':
			length = max(longBracket(rest), 1)
		}
		p.line += strings.Count(rest[:length], "\n")
		p.at += length
	}
	return "", p.errorf(line, "this block of Lua does not end")
}

// luaString returns the length of the quoted string at the beginning of a text.
func luaString(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0], '\n':
			return i + 1
		}
	}
	return len(text)
}

// longBracket returns the length of [[…]] or [=[…]=] at the beginning of a text; 0 if there is none.
func longBracket(text string) int {
	if !strings.HasPrefix(text, "[") {
		return 0
	}
	level := len(text) - 1 - len(strings.TrimLeft(text[1:], "="))
	if !strings.HasPrefix(text[1+level:], "[") {
		return 0
	}
	closing := "]" + strings.Repeat("=", level) + "]"
	end := strings.Index(text, closing)
	if end < 0 {
		return len(text)
	}
	return end + len(closing)
}

// Title returns a block's directive as people recognise it: a server by its names.
func Title(d *Directive) string {
	if d.Name == "server" {
		if all := names(d); len(all) > 0 {
			return "server " + all[0]
		}
		if all := listens(d); len(all) > 0 {
			return "server on " + strings.Join(all, " ")
		}
	}
	words := []string{d.Name}
	for _, arg := range d.Args {
		words = append(words, quoted(arg))
	}
	return strings.Join(words, " ")
}
