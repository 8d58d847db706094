package options

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// BadPattern returns an error if PCRE, nginx's regular expression library, would reject a pattern.
// It replaces syntax that only PCRE has, then uses Go's regexp. It also rejects a pattern that it
// cannot judge.
func BadPattern(pattern string) error {
	plain, backward, err := withoutPCRE(pattern)
	if err != nil {
		return err
	}
	parsed, err := syntax.Parse(plain, syntax.Perl)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if backward > parsed.MaxCap() {
		return fmt.Errorf("there is no group \\%d", backward)
	}
	names := make(map[string]bool)
	for _, name := range parsed.CapNames() {
		if name != "" && (!captureName.MatchString(name) || IsVariable(name) || names[name]) {
			return fmt.Errorf("%s is not a valid group name", name)
		}
		names[name] = true
	}
	return nil
}

var captureName = regexp.MustCompile(`^[A-Za-z_]\w{0,31}$`)

// deepest is the maximum nesting of groups; the limit of PCRE2 is 250.
const deepest = 200

// repetition is the source of a quantifier.
const repetition = `(?:[*+?]|\{\d+(?:,\d*)?\})`

// The following expressions match at the beginning of the unread part of a pattern.
var (
	// lookaround is the start of a group that Go does not support.
	lookaround = regexp.MustCompile(`^\(\?(=|!|<=|<!|>|\|)`)
	// onlyPCRE is an escape that Go does not support: a backreference, or some classes.
	onlyPCRE        = regexp.MustCompile(`^\\[1-9hHvVRX]`)
	backreference   = regexp.MustCompile(`^\\[1-9]`)
	wideCharacter   = regexp.MustCompile(`^\\x\{0*[0-9A-Fa-f]{3,}\}`)
	collatingSymbol = regexp.MustCompile(`^\[[.=]`)
	// emptyRepeated is a quantifier without an expression to repeat, or with an empty one, as in (?i)*.
	emptyRepeated = regexp.MustCompile(`^(?:\^|\$|\\[bBAzZG]|\(\?[a-zA-Z-]*\))` + repetition)
	quantifier    = regexp.MustCompile(`^` + repetition)
	possessive    = regexp.MustCompile(`^` + repetition + `\+`)
)

// withoutPCRE returns a pattern without syntax that only PCRE has, and the highest
// group number of its backreferences.
func withoutPCRE(pattern string) (_ string, highest int, _ error) {
	var plain strings.Builder
	depth, class := 0, false
	for rest := pattern; rest != ""; {
		taken, written := 1, rest[:1]
		switch {
		case wideCharacter.MatchString(rest):
			return "", 0, errors.New("a character above \\xFF")
		case !class && emptyRepeated.MatchString(rest):
			return "", 0, errors.New("a quantifier of an empty expression")
		case class && collatingSymbol.MatchString(rest):
			return "", 0, errors.New("a collating element")
		case !class && onlyPCRE.MatchString(rest):
			taken, written = 2, "a"
			if backreference.MatchString(rest) {
				highest = max(highest, int(rest[1]-'0'))
			}
		case rest[0] == '\\' && len(rest) > 1:
			taken, written = 2, rest[:2]
		case class:
			class = rest[0] != ']' || strings.HasSuffix(plain.String(), "[") || strings.HasSuffix(plain.String(), "[^")
		case rest[0] == '[':
			class = true
		case lookaround.MatchString(rest):
			found := lookaround.FindString(rest)
			content, _, _ := strings.Cut(rest[len(found):], ")")
			if strings.HasPrefix(found, "(?<") && strings.ContainsAny(content, "*+?{") {
				return "", 0, errors.New("a lookbehind without a fixed length")
			}
			taken, written = len(found), "(?:"
			depth++
		case rest[0] == '(':
			depth++
		case rest[0] == ')':
			depth--
		case possessive.MatchString(rest):
			found := possessive.FindString(rest)
			if quantifier.MatchString(rest[len(found):]) {
				return "", 0, errors.New("a quantifier of a quantifier")
			}
			taken, written = len(found), found[:len(found)-1]
		}
		if depth > deepest {
			return "", 0, errors.New("groups are nested too deep")
		}
		plain.WriteString(written)
		rest = rest[taken:]
	}
	return plain.String(), highest, nil
}
