package mutate

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// OfTemplate returns the mutants of the files of a template, by file and line:
//   - delete: a line with a directive, or one that writes directives, is deleted;
//   - on, off, true, false, and numbers: the value of a directive is replaced by another one;
//   - always, never: a condition of the template does not depend on its data;
//   - opposite: a condition of nginx is negated.
func OfTemplate(files map[string]string) []Mutant {
	var all []Mutant
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, l := range scan(files[name]) {
			if !l.within {
				all = append(all, ofLine(name, l)...)
			}
		}
	}
	return all
}

func ofLine(file string, l line) []Mutant {
	var all []Mutant
	add := func(what, now string) {
		if now != l.text && !slices.ContainsFunc(all, func(m Mutant) bool { return m.Now == now }) {
			all = append(all, lineMutant(Template, file, l.number, what, l.text, now))
		}
	}
	if l.fixed == "" && l.note != "" {
		return nil
	}
	if l.starts && l.balanced() && (strings.HasSuffix(l.fixed, ";") || l.fixed == "" && l.writes()) {
		add("delete", "")
	}
	if l.starts && l.balanced() && strings.HasSuffix(l.fixed, ";") {
		for _, v := range otherValues(strings.TrimSuffix(l.text, l.note)) {
			add(v.what, v.now+l.note)
		}
	}
	if opposite, ok := negated(l.text); ok {
		add("opposite", opposite)
	}
	for _, m := range conditions(l) {
		add(m.what, m.now)
	}
	if l.branch != 0 {
		for i := range all {
			all[i].Reach = l.branch
		}
	}
	return all
}

// writes reports whether a line of actions alone writes anything: it calls a template, or prints a
// value.
func (l line) writes() bool {
	for _, s := range l.spans {
		switch {
		case !s.action:
		case s.word == "template":
			return true
		case slices.Contains([]string{"if", "range", "with", "define", "block", "else", "end", "break", "continue", "comment", ""}, s.word):
		case strings.HasPrefix(s.word, "$") && (strings.HasPrefix(s.rest, ":=") || strings.HasPrefix(s.rest, "= ")):
		default:
			return true
		}
	}
	return false
}

// variant is a changed line.
type variant struct{ what, now string }

// conditions returns the line with each of its conditions replaced by true and by false.
func conditions(l line) []variant {
	var all []variant
	number := 0
	for i, s := range l.spans {
		condition := s.rest
		prefix := "if"
		if s.word == "else" {
			var ok bool
			if condition, ok = strings.CutPrefix(s.rest, "if "); !ok {
				continue
			}
			prefix = "else if"
		} else if s.word != "if" {
			continue
		}
		if strings.Contains(condition, ":=") {
			continue
		}
		number++
		suffix := ""
		if number > 1 {
			suffix = strconv.Itoa(number)
		}
		for _, v := range []variant{{"always", "true"}, {"never", "false"}} {
			changed := strings.Replace(s.text, prefix+" "+condition, prefix+" "+v.now, 1)
			var text strings.Builder
			for j, other := range l.spans {
				if j == i {
					text.WriteString(changed)
				} else {
					text.WriteString(other.text)
				}
			}
			all = append(all, variant{v.what + suffix, text.String()})
		}
	}
	return all
}

var (
	// number is a number with an optional unit, as a whole argument if a space or semicolon follows.
	number = regexp.MustCompile(`[ =]([0-9]+)([smhkKMG]?)`)
	// operator is the operator of a condition of nginx.
	operator = regexp.MustCompile(`^(\s*if \(.* )(!?=|!?~\*?)( .*\) \{.*)$`)
)

// otherValues returns the line with other values: with inverted switches, and other numbers.
func otherValues(text string) []variant {
	if strings.HasPrefix(strings.TrimSpace(text), "access_log ") {
		return nil // on would be the name of a file
	}
	var all []variant
	for was, now := range map[string]string{"on": "off", "off": "on", `"true"`: `"false"`, `"false"`: `"true"`, "'true'": "'false'", "'false'": "'true'"} {
		if before, ok := strings.CutSuffix(strings.TrimRight(text, " "), " "+was+";"); ok {
			all = append(all, variant{strings.Trim(now, `"'`), before + " " + now + ";"})
		}
	}
	numbers := slices.DeleteFunc(number.FindAllStringSubmatchIndex(text, -1), func(found []int) bool {
		return found[1] == len(text) || strings.IndexByte(" ;", text[found[1]]) < 0
	})
	for i, found := range numbers {
		if strings.Contains(text[:found[0]], "{{") && strings.Count(text[:found[0]], "{{") != strings.Count(text[:found[0]], "}}") {
			continue // in an action
		}
		value := text[found[2]:found[3]]
		n, err := strconv.Atoi(value)
		if err != nil || n > 1<<40 {
			continue
		}
		other := 2 * n
		switch {
		case n == 0:
			other = 1
		case n == 1:
			other = 0
		case n >= 100 && n < 600 && found[4] == found[5]: // a status
			other = n + 1
		}
		suffix := ""
		if i > 0 {
			suffix = "#" + strconv.Itoa(i+1)
		}
		all = append(all, variant{strconv.Itoa(other) + suffix, text[:found[2]] + strconv.Itoa(other) + text[found[3]:]})
	}
	return all
}

// negated returns a line that opens an if of nginx with the opposite condition.
func negated(text string) (string, bool) {
	found := operator.FindStringSubmatch(text)
	if found == nil {
		return "", false
	}
	opposite, ok := strings.CutPrefix(found[2], "!")
	if !ok {
		opposite = "!" + found[2]
	}
	return found[1] + opposite + found[3], true
}
