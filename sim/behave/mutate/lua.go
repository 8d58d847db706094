package mutate

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	luaCondition = regexp.MustCompile(`^(\s*)(if|elseif|while)\s+(.+?)\s+(then|do)\b(.*)$`)
	luaAnswer    = regexp.MustCompile(`^(\s*return\s+)(true|false)\s*$`)
	luaControl   = regexp.MustCompile(`^(if|elseif|else|end|for|while|repeat|until|do|function|local function|goto|break|return|and|or|not)\b`)
	luaName      = regexp.MustCompile(`^[A-Za-z_]`)
)

// OfLua returns the mutants of files of Lua code, by file and line: statements of one line are
// deleted, conditions are always or never true, and a returned truth value is the opposite. Statements
// outside of functions are left alone.
func OfLua(files map[string]string) []Mutant {
	var all []Mutant
	for _, name := range slices.Sorted(maps.Keys(files)) {
		depth, brackets, long := 0, 0, false
		lines := strings.Split(files[name], "\n")
		for i, text := range lines {
			code := luaCode(text)
			if long || strings.Contains(text, "--[[") {
				long = !strings.Contains(text, "]]")
				continue
			}
			add := func(what, now string) { all = append(all, lineMutant(Lua, name, i+1, what, text, now)) }
			change := strings.Count(code, "(") + strings.Count(code, "{") - strings.Count(code, ")") - strings.Count(code, "}")
			trimmed := strings.TrimSpace(code)
			whole := brackets == 0 && change == 0
			found := luaCondition.FindStringSubmatch(text)
			switch {
			case depth == 0 || trimmed == "":
			case whole && found != nil && strings.Count(code, " then") <= 1:
				before := len(all)
				if found[3] != "true" && found[2] != "while" {
					add("always", found[1]+found[2]+" true "+found[4]+found[5])
				}
				add("never", found[1]+found[2]+" false "+found[4]+found[5])
				for n := before; n < len(all); n++ {
					all[n].Branch = luaBranch(lines, i)
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

// luaCode returns a line without its comment and the contents of its strings.
func luaCode(text string) string {
	var code strings.Builder
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
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
		case strings.HasPrefix(text[i:], "--"):
			return code.String()
		default:
			code.WriteByte(c)
		}
	}
	return code.String()
}

// luaStatement reports whether a line is a statement that can be deleted.
func luaStatement(code string) bool {
	if luaControl.MatchString(code) || !luaName.MatchString(code) || strings.HasSuffix(code, ",") {
		return false
	}
	for _, unfinished := range []string{"=", "and", "or", "..", "not", "+", "("} {
		if strings.HasSuffix(code, unfinished) {
			return false
		}
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

// luaBranch returns the numbers of the lines between the condition at an index and the else or end
// of its branch. It is nil for a branch that ends in the line of its condition.
func luaBranch(lines []string, condition int) (branch []int) {
	opened := luaBlocks(luaCode(lines[condition]))
	if luaElse.MatchString(lines[condition]) {
		opened++ // it closes the branch before
	}
	if opened <= 0 {
		return nil
	}
	depth := 1
	for i := condition + 1; i < len(lines); i++ {
		code := luaCode(lines[i])
		if depth == 1 && luaElse.MatchString(code) {
			return branch
		}
		if depth += luaBlocks(code); depth <= 0 {
			return branch
		}
		branch = append(branch, i+1)
	}
	return nil // the text is no Lua
}

// luaElse matches a line that begins another branch.
var luaElse = regexp.MustCompile(`^\s*else(if)?\b`)
