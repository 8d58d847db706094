package expect

import (
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/parser"

	"windtunnel.dev/sim/measure"
)

// patterns returns the paths as CEL attribute patterns.
func patterns(paths []string) (all []*cel.AttributePatternType) {
	for _, path := range paths {
		steps := strings.Split(path, ".")
		all = append(all, pattern(steps[0], steps[1:]))
	}
	return all
}

// subset is a list over which an all() of an expectation iterates, with the program that
// computes it.
type subset struct {
	text    string
	program cel.Program
}

// mayBeEmpty contains the lists for which empty is a good result.
var mayBeEmpty = []string{"trouble", "invalid"}

// subsetsOf returns the lists of the all() macros of an expectation, except those within another
// macro.
func subsetsOf(parsed *cel.Ast) ([]subset, error) {
	var subsets []subset
	var failed error
	native := parsed.NativeRep()
	visit(native.Expr(), func(e ast.Expr) {
		if !isAll(e) || failed != nil {
			return
		}
		over := e.AsComprehension().IterRange()
		if root, ok := rootOf(over); ok && slices.Contains(mayBeEmpty, root) {
			return
		}
		text, err := parser.Unparse(over, native.SourceInfo())
		if err != nil {
			return // it has no source text
		}
		compiled, issues := env.Compile(text)
		if issues.Err() != nil {
			return // it depends on a variable of another macro
		}
		program, err := programOf(compiled)
		if err != nil {
			failed = err
			return
		}
		subsets = append(subsets, subset{text, program})
	})
	return subsets, failed
}

func visit(e ast.Expr, see func(ast.Expr)) { ast.PreOrderVisit(e, ast.NewExprVisitor(see)) }

// isAll reports whether an expression is the expansion of the macro all, whose initial value is
// true.
func isAll(e ast.Expr) bool {
	if e.Kind() != ast.ComprehensionKind {
		return false
	}
	from := e.AsComprehension().AccuInit()
	return from.Kind() == ast.LiteralKind && from.AsLiteral() == types.True
}

// empty returns a message if a list of an all() is empty, or an empty text if none is.
func empty(subsets []subset, vars cel.PartialActivation) string {
	for _, s := range subsets {
		out, _, err := s.program.Eval(vars)
		if list, ok := out.(traits.Lister); ok && err == nil && list.Size() == types.IntZero {
			return s.text + " is empty: nothing to measure"
		}
	}
	return ""
}

// lanesOf returns the names with which an expectation compares lane names.
func lanesOf(parsed *cel.Ast) (names []string) {
	visit(parsed.NativeRep().Expr(), func(e ast.Expr) {
		if e.Kind() != ast.ComprehensionKind || !isOfLanes(e.AsComprehension().IterRange()) {
			return
		}
		lane := e.AsComprehension().IterVar()
		visit(e.AsComprehension().LoopStep(), func(e ast.Expr) {
			if name, ok := comparedName(e, lane); ok && !slices.Contains(names, name) {
				names = append(names, name)
			}
		})
	})
	return names
}

// isOfLanes reports whether a list is lanes, or a subset of lanes that a macro selects.
func isOfLanes(list ast.Expr) bool {
	for list.Kind() == ast.ComprehensionKind {
		list = list.AsComprehension().IterRange()
	}
	root, ok := rootOf(list)
	return ok && root == "lanes"
}

// comparedName returns the text with which lane.name is compared by == or !=.
func comparedName(e ast.Expr, lane string) (string, bool) {
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "_==_" && e.AsCall().FunctionName() != "_!=_" {
		return "", false
	}
	args := e.AsCall().Args()
	for i, arg := range args {
		if arg.Kind() != ast.SelectKind || arg.AsSelect().FieldName() != "name" {
			continue
		}
		of, other := arg.AsSelect().Operand(), args[1-i]
		if of.Kind() == ast.IdentKind && of.AsIdent() == lane && other.Kind() == ast.LiteralKind {
			name, ok := other.AsLiteral().Value().(string)
			return name, ok
		}
	}
	return "", false
}

// unknownLane returns a name that no lane has.
func unknownLane(names []string, lanes []measure.Lane) string {
	for _, name := range names {
		if !slices.ContainsFunc(lanes, func(l measure.Lane) bool { return l.Name == name }) {
			return fmt.Sprintf("there is no lane %q", name)
		}
	}
	return ""
}
