package attack_test

import (
	"fmt"
	"strings"
)

// node is a directive of nginx.conf.
type node struct {
	args  []string // the name and the parameters
	block []node
	isSet bool // whether it has a block, which may be empty
	line  int
}

// conf parses nginx.conf as nginx does (ngx_conf_read_token), with its limit on the length of a
// parameter (NGX_CONF_BUFFER). Libraries that parse nginx.conf differ from nginx in details that an
// attacker can use: quotes within a word, variables in braces, escapes, the length of a parameter.
type conf struct {
	text []byte
	pos  int
	line int
}

// buffer is the length in bytes from which nginx rejects a parameter.
const buffer = 4096

// tree returns the directives of a configuration, or the error with which nginx rejects it.
func tree(text []byte) ([]node, error) {
	c := &conf{text: text, line: 1}
	nodes, closed, err := c.block()
	if err == nil && closed {
		err = fmt.Errorf(`line %d: unexpected "}"`, c.line)
	}
	return nodes, err
}

// block reads directives up to a closing brace or the end of the file. closed reports which.
func (c *conf) block() (nodes []node, closed bool, err error) {
	for {
		args, end, err := c.directive()
		if err != nil {
			return nil, false, err
		}
		n := node{args: args, line: c.line}
		switch end {
		case 0:
			return nodes, false, nil
		case '}':
			return nodes, true, nil
		case '{':
			n.isSet = true
			if strings.HasSuffix(args[0], "_by_lua_block") {
				err = c.lua()
			} else if n.block, closed, err = c.block(); err == nil && !closed {
				err = fmt.Errorf(`line %d: expecting "}"`, c.line)
			}
			if err != nil {
				return nil, false, err
			}
		}
		nodes = append(nodes, n)
	}
}

func isSpace(ch byte) bool { return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n' }

// directive reads a name and its parameters. It also returns what ends them: ; { } or 0 for the end
// of the file.
func (c *conf) directive() (args []string, end byte, err error) {
	for c.pos < len(c.text) {
		ch := c.text[c.pos]
		switch {
		case ch == '\n':
			c.line++
			c.pos++
		case isSpace(ch):
			c.pos++
		case ch == '#':
			for c.pos < len(c.text) && c.text[c.pos] != '\n' {
				c.pos++
			}
		case ch == ';' || ch == '{':
			c.pos++
			if len(args) == 0 {
				return nil, 0, fmt.Errorf("line %d: unexpected %q", c.line, ch)
			}
			return args, ch, nil
		case ch == '}':
			c.pos++
			if len(args) > 0 {
				return nil, 0, fmt.Errorf(`line %d: unexpected "}"`, c.line)
			}
			return nil, ch, nil
		default:
			arg, err := c.parameter()
			if err != nil {
				return nil, 0, err
			}
			args = append(args, arg)
		}
	}
	if len(args) > 0 {
		return nil, 0, fmt.Errorf(`line %d: unexpected end of file, expecting ";" or "}"`, c.line)
	}
	return nil, 0, nil
}

// parameter reads one word, quoted or not.
func (c *conf) parameter() (string, error) {
	start, first := c.pos, c.text[c.pos]
	quoted := first == '"' || first == '\''
	escaped, variable := first == '\\', first == '$'
	for c.pos++; c.pos < len(c.text); c.pos++ {
		if c.pos-start >= buffer {
			return "", fmt.Errorf("line %d: too long parameter %q", c.line, c.text[start:start+20])
		}
		ch := c.text[c.pos]
		if ch == '\n' {
			c.line++
		}
		switch {
		case escaped:
			escaped = false
			continue
		case ch == '{' && variable:
			continue
		}
		variable = false
		switch {
		case ch == '\\':
			escaped = true
		case ch == '$':
			variable = true
		case quoted && ch == first:
			c.pos++
			return string(c.text[start+1 : c.pos-1]), c.spaced()
		case !quoted && (isSpace(ch) || ch == ';' || ch == '{'):
			if ch == '\n' {
				c.line--
			}
			return string(c.text[start:c.pos]), nil
		}
	}
	return "", fmt.Errorf("line %d: unexpected end of file", c.line)
}

// spaced checks the character after a closing quote as nginx does.
func (c *conf) spaced() error {
	if c.pos < len(c.text) {
		if ch := c.text[c.pos]; !isSpace(ch) && ch != ';' && ch != '{' && ch != ')' {
			return fmt.Errorf("line %d: unexpected %q", c.line, ch)
		}
		if c.text[c.pos] == ')' {
			c.pos++
		}
	}
	return nil
}

// lua skips a Lua block; it ignores braces in strings and comments.
func (c *conf) lua() error {
	for depth := 1; c.pos < len(c.text); c.pos++ {
		switch ch := c.text[c.pos]; {
		case ch == '\n':
			c.line++
		case ch == '{':
			depth++
		case ch == '}':
			if depth--; depth == 0 {
				c.pos++
				return nil
			}
		case ch == '"' || ch == '\'':
			for c.pos++; c.pos < len(c.text) && c.text[c.pos] != ch && c.text[c.pos] != '\n'; c.pos++ {
				if c.text[c.pos] == '\\' {
					c.pos++
				}
			}
		case ch == '-' && strings.HasPrefix(string(c.text[c.pos:min(c.pos+2, len(c.text))]), "--"):
			for c.pos+1 < len(c.text) && c.text[c.pos+1] != '\n' {
				c.pos++
			}
		}
	}
	return fmt.Errorf("line %d: unterminated Lua block", c.line)
}
