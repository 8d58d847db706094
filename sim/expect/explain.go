package expect

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"

	"windtunnel.dev/sim/measure"
)

// explain formats CEL's errors as one line: the first error in the text, and the valid names in the
// place of a wrong name.
func explain(text string, errors []*cel.Error) error {
	first := slices.MinFunc(errors, func(a, b *cel.Error) int { return a.Location.Column() - b.Location.Column() })
	column := first.Location.Column()
	message := plain(first.Message)
	if names := namesNear(text, column, message); names != "" {
		message += "; " + names
	}
	// CEL reports no column for an error at the very end.
	if column < 0 {
		column = len([]rune(text))
	}
	return fmt.Errorf("expectation %q, column %d: %s", text, column+1, message)
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

func namesNear(text string, column int, message string) string {
	if !undefined.MatchString(message) {
		return ""
	}
	runes := []rune(text)
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

// checkCauses finds unknown causes such as causes["refusd"]. A cause that does not exist is always
// zero, so an expectation on it could never fail.
func checkCauses(text string, parsed *cel.Ast) error {
	var wrong error
	ast.PreOrderVisit(parsed.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if wrong != nil || e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "_[_]" {
			return
		}
		of, key := e.AsCall().Args()[0], e.AsCall().Args()[1]
		if of.Kind() != ast.SelectKind || of.AsSelect().FieldName() != "causes" || key.Kind() != ast.LiteralKind {
			return
		}
		name, isText := key.AsLiteral().Value().(string)
		if isText && !isCause(name) {
			at := parsed.NativeRep().SourceInfo().GetStartLocation(key.ID())
			wrong = fmt.Errorf("expectation %q, column %d: there is no cause %q; the causes are %s", text, at.Column()+1, name, causes())
		}
	}))
	return wrong
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
