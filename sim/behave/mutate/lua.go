package mutate

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	luaCondition = regexp.MustCompile(`^(\s*)(if|elseif|while)\s+(.+?)\s+(then|do)\b(.*)$`)
	luaAnswer    = regexp.MustCompile(`^(\s*return\s+)(true|false)\s*(--.*)?$`)
	luaControl   = regexp.MustCompile(`^(if|elseif|else|end|for|while|repeat|until|do|function|local function|goto|break|return|and|or|not)\b`)
	luaName      = regexp.MustCompile(`^[A-Za-z_]`)
	luaGoesOn    = regexp.MustCompile(`([=+(,]|\.\.|\b(and|or|not))$`)
	luaLong      = regexp.MustCompile(`^(--)?\[(=*)\[`) // begins a comment or a string that can have several lines
)

// OfLua returns the mutants of files of Lua code, by file and line: statements of one line are
// deleted, conditions are always or never true, and returned truth values are negated. Statements
// outside of functions have none.
func OfLua(files map[string]string) []Mutant {
	var all []Mutant
	for _, name := range slices.Sorted(maps.Keys(files)) {
		depth, brackets := 0, 0
		lines := strings.Split(files[name], "\n")
		codes, within := luaCodes(lines)
		for i, text := range lines {
			code := codes[i]
			add := func(what, now string) { all = append(all, lineMutant(Lua, name, i+1, what, text, now)) }
			change := strings.Count(code, "(") + strings.Count(code, "{") - strings.Count(code, ")") - strings.Count(code, "}")
			trimmed := strings.TrimSpace(code)
			whole := brackets == 0 && change == 0 && !within[i] && !within[i+1]
			found := luaCondition.FindStringSubmatch(text)
			switch {
			case depth == 0 || trimmed == "":
			case whole && found != nil && strings.Count(code, " then") <= 1:
				before := len(all)
				if found[3] != "true" && found[2] != "while" {
					add("always", found[1]+found[2]+" true "+found[4]+found[5])
				}
				if found[3] != "false" {
					add("never", found[1]+found[2]+" false "+found[4]+found[5])
				}
				for n := before; n < len(all); n++ {
					all[n].Branch = luaBranch(codes, i)
				}
			case whole && luaAnswer.MatchString(text):
				opposite := map[string]string{"true": "false", "false": "true"}
				answer := luaAnswer.FindStringSubmatch(text)
				add("opposite", answer[1]+opposite[answer[2]])
			case whole && luaStatement(trimmed):
				add("delete", "")
			}
			brackets = max(brackets+change, 0)
			depth = max(depth+luaBlocks(code), 0)
		}
	}
	return all
}

// luaCodes returns lines without their comments and the contents of their strings, and whether each
// line begins within a comment or a string of several lines. The last entry is for the end.
func luaCodes(lines []string) (codes []string, within []bool) {
	closing, comment := "", false // what ends the long bracket that is open, and whether it is a comment
	for _, text := range lines {
		within = append(within, closing != "")
		var code strings.Builder
		quote := byte(0)
		for i := 0; i < len(text); i++ {
			c := text[i]
			switch {
			case closing != "":
				length := strings.Index(text[i:], closing)
				if length < 0 {
					i = len(text)
					break
				}
				i += length + len(closing) - 1
				closing = ""
				if !comment {
					code.WriteString(`""`)
				}
			case quote != 0:
				if c == '\\' {
					i++
				} else if c == quote {
					quote = 0
					code.WriteByte(c)
				}
			case c == '"' || c == '\'':
				quote = c
				code.WriteByte(c)
			case luaLong.MatchString(text[i:]):
				found := luaLong.FindStringSubmatch(text[i:])
				i += len(found[0]) - 1
				closing, comment = "]"+found[2]+"]", found[1] != ""
			case strings.HasPrefix(text[i:], "--"):
				i = len(text)
			default:
				code.WriteByte(c)
			}
		}
		codes = append(codes, code.String())
	}
	return codes, append(within, closing != "")
}

// luaStatement reports whether a line is a statement that can be deleted.
func luaStatement(code string) bool {
	if luaControl.MatchString(code) || !luaName.MatchString(code) || luaGoesOn.MatchString(code) {
		return false
	}
	assigns := strings.Contains(code, " = ")
	calls := strings.HasSuffix(code, ")")
	return (assigns || calls) && luaBlocks(code) == 0
}

var luaWord = regexp.MustCompile(`[A-Za-z_]\w*`)

// luaBlocks returns how many blocks a line opens, less those that it closes.
func luaBlocks(code string) int {
	depth := 0
	for _, word := range luaWord.FindAllString(code, -1) {
		switch word {
		case "function", "then", "do", "repeat":
			depth++
		case "end", "until", "elseif":
			depth--
		}
	}
	return depth
}

// luaBranch returns the numbers of the lines of code between the condition at an index and the else or end
// of its branch. It is nil for a branch that ends in the line of its condition.
func luaBranch(codes []string, condition int) (branch []int) {
	opened := luaBlocks(codes[condition])
	if luaElse.MatchString(codes[condition]) {
		opened++ // it closes the branch before
	}
	if opened <= 0 {
		return nil
	}
	depth := 1
	for i := condition + 1; i < len(codes); i++ {
		code := codes[i]
		if depth == 1 && luaElse.MatchString(code) {
			return branch
		}
		if depth += luaBlocks(code); depth <= 0 {
			return branch
		}
		branch = append(branch, i+1)
	}
	return nil // the text is not valid Lua
}

// luaElse matches a line that begins another branch.
var luaElse = regexp.MustCompile(`^\s*else(if)?\b`)
