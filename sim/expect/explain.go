package expect

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"

	"windtunnel.dev/sim/measure"
)

// explain formats CEL's errors as one line: the first error in the text, and how to mend it: the valid
// names in the place of a wrong name, and how to write a duration or a size.
func explain(text string, errors []*cel.Error) error {
	first := slices.MinFunc(errors, func(a, b *cel.Error) int {
		return cmp.Or(cmp.Compare(a.Location.Line(), b.Location.Line()), cmp.Compare(a.Location.Column(), b.Location.Column()))
	})
	message := plain(first.Message)
	for _, hint := range []string{namesNear(text, first.Location, message), unitNear(text, first.Location), durationWanted(message)} {
		if hint != "" {
			message += "; " + hint
		}
	}
	return errorAt(text, first.Location, message)
}

// errorAt returns an error about a place in an expectation, whose lines count from 1 and columns from 0.
func errorAt(text string, at common.Location, message string) error {
	lines := strings.Split(text, "\n")
	line, column := at.Line(), at.Column()
	if column < 0 { // CEL reports no place for an error at the very end
		line, column = len(lines), len([]rune(lines[len(lines)-1]))
	}
	place := fmt.Sprintf("column %d", column+1)
	if len(lines) > 1 {
		place = fmt.Sprintf("line %d, %s", line, place)
	}
	return fmt.Errorf("expectation %q, %s: %s", text, place, message)
}

var (
	container  = regexp.MustCompile(` \(in container '[^']*'\)`)
	undefined  = regexp.MustCompile(`undefined field|undeclared reference`)
	pathBefore = regexp.MustCompile(`[\w.]+$`)
)

func plain(message string) string {
	message = container.ReplaceAllString(message, "")
	message, _, _ = strings.Cut(message, " expecting {") // what follows lists every possible token
	message = strings.ReplaceAll(message, "'<EOF>'", "the end of the text")
	return strings.Join(strings.Fields(message), " ")
}

func namesNear(text string, at common.Location, message string) string {
	if !undefined.MatchString(message) {
		return ""
	}
	runes, column := []rune(strings.Split(text, "\n")[at.Line()-1]), at.Column()
	path := ""
	// An undefined field is reported at the dot before it.
	if column < len(runes) && runes[column] == '.' {
		path = pathBefore.FindString(string(runes[:column]))
	}
	names := measure.NamesUnder(path)
	if names == nil {
		return ""
	}
	if path == "" {
		return "there are " + strings.Join(names, ", ")
	}
	return path + " has " + strings.Join(names, ", ")
}

// checkCauses finds unknown causes such as causes["refusd"] or causes.refusd, which no request can
// have.
func checkCauses(text string, parsed *cel.Ast) error {
	var wrong error
	visit(parsed.NativeRep().Expr(), func(e ast.Expr) {
		if name, at, ok := causeIn(e); ok && wrong == nil && !isCause(name) {
			place := parsed.NativeRep().SourceInfo().GetStartLocation(at)
			wrong = errorAt(text, place, fmt.Sprintf("there is no cause %q; the causes are %s", name, causes()))
		}
	})
	return wrong
}

// causeIn returns the cause that an expression selects by a constant name, and the node with its place.
func causeIn(e ast.Expr) (name string, at int64, ok bool) {
	var of ast.Expr
	switch {
	case e.Kind() == ast.SelectKind:
		of, name, at, ok = e.AsSelect().Operand(), e.AsSelect().FieldName(), e.ID(), true
	case e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "_[_]" && e.AsCall().Args()[1].Kind() == ast.LiteralKind:
		key := e.AsCall().Args()[1]
		of, at = e.AsCall().Args()[0], key.ID()
		name, ok = key.AsLiteral().Value().(string)
	default:
		return "", 0, false
	}
	return name, at, ok && of.Kind() == ast.SelectKind && of.AsSelect().FieldName() == "causes"
}

func isCause(name string) bool {
	for _, cause := range measure.Causes {
		if string(cause) == name {
			return true
		}
	}
	return false
}

func causes() string {
	var names []string
	for _, cause := range measure.Causes {
		names = append(names, string(cause))
	}
	return strings.Join(names, ", ")
}
