package mutate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// markSign begins the comments of a marked template, each of which says which template line wrote
// the following text.
const markSign = "#@line "

// Marked returns the files of a template that writes a comment before each of its lines. The
// rendered text configures nginx in the same way as without comments. Lines within an argument or a
// block of Lua have no comment, nor does an else, whose comment would belong to the branch before
// it.
func Marked(files map[string]string) map[string]string {
	all := make(map[string]string, len(files))
	for name, text := range files {
		marks := marksOf(text)
		var out []string
		for i, content := range strings.Split(text, "\n") {
			if marks[i+1] {
				content = fmt.Sprintf("{{ %q }}%s", fmt.Sprintf("\n%s%s:%d\n", markSign, name, i+1), content)
			}
			out = append(out, content)
		}
		all[name] = strings.Join(out, "\n")
	}
	return all
}

// Sites returns the lines, as file:line, before which Marked writes a comment.
func Sites(files map[string]string) map[string]bool {
	all := map[string]bool{}
	for name, text := range files {
		for number := range marksOf(text) {
			all[fmt.Sprintf("%s:%d", name, number)] = true
		}
	}
	return all
}

// marksOf returns the numbers of the lines that have a comment.
func marksOf(text string) map[int]bool {
	marks := map[int]bool{}
	for _, l := range scan(text) {
		if !l.within && l.starts && l.branch == 0 && !l.onlyNotes() && strings.TrimSpace(l.text) != "" {
			marks[l.number] = true
		}
	}
	return marks
}

// onlyNotes reports whether a line contains only comments, definitions and ends. A comment before
// such a line would change its meaning.
func (l line) onlyNotes() bool {
	return !slices.ContainsFunc(l.spans, func(s span) bool {
		return !s.action && strings.TrimSpace(s.text) != "" ||
			s.action && !slices.Contains([]string{"comment", "define", "block", "end"}, s.word) &&
				!(strings.HasPrefix(s.word, "$") && strings.HasPrefix(s.rest, ":="))
	})
}

// Reached are the lines of a template, as file:line, that wrote an nginx.conf.
type Reached struct {
	Everywhere map[string]bool            // outside of servers
	Servers    map[string]map[string]bool // by name of the server
}

// serverName matches the directive with the names of a server.
var serverName = regexp.MustCompile(`^server_name\s+(.*);$`)

// ReadMarks reads the comments of an nginx.conf that a marked template rendered.
func ReadMarks(conf string) Reached {
	r := Reached{Everywhere: map[string]bool{}, Servers: map[string]map[string]bool{}}
	depth, server := 0, -1 // the depth within the server; negative outside of one
	var lines map[string]bool
	var names []string
	for text := range strings.Lines(conf) {
		text = strings.TrimSpace(text)
		if site, ok := strings.CutPrefix(text, markSign); ok {
			if server >= 0 {
				lines[site] = true
			} else {
				r.Everywhere[site] = true
			}
			continue
		}
		if strings.HasPrefix(text, "#") {
			continue
		}
		if server < 0 && depth == 1 && text == "server {" {
			server, lines, names = depth, map[string]bool{}, nil
		}
		if found := serverName.FindStringSubmatch(text); found != nil && server >= 0 {
			names = strings.Fields(strings.ReplaceAll(found[1], `"`, ""))
		}
		opened, closed := braces(text)
		depth += opened - closed
		if server >= 0 && depth <= server {
			r.add(names, lines)
			server = -1
		}
	}
	return r
}

func (r Reached) add(names []string, lines map[string]bool) {
	if len(names) == 0 {
		maps.Copy(r.Everywhere, lines)
	}
	for _, name := range names {
		if r.Servers[name] == nil {
			r.Servers[name] = map[string]bool{}
		}
		maps.Copy(r.Servers[name], lines)
	}
}

// braces counts the braces of a line that are neither quoted nor those of a variable, as in ${name}.
func braces(text string) (opened, closed int) {
	quote, variable := byte(0), false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '#' && i > 0 && text[i-1] == ' ':
			return opened, closed
		case c == '{' && i > 0 && text[i-1] == '$':
			variable = true
		case c == '{':
			opened++
		case c == '}' && variable:
			variable = false
		case c == '}':
			closed++
		}
	}
	return opened, closed
}
