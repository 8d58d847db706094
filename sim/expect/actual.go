package expect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/parser"
)

// use is a value that an expectation uses: the longest path from a name of the subject, with the
// program that evaluates it.
type use struct {
	path    string
	program cel.Program
}

// usesOf returns the values that an expectation uses, in order and without duplicates.
func usesOf(parsed *cel.Ast) ([]use, error) {
	finder := finder{info: parsed.NativeRep().SourceInfo(), bound: map[string]string{}}
	finder.visit(parsed.NativeRep().Expr())
	var uses []use
	for _, path := range finder.paths {
		compiled, issues := env.Compile(path)
		if issues.Err() != nil {
			return nil, issues.Err()
		}
		program, err := programOf(compiled)
		if err != nil {
			return nil, err
		}
		uses = append(uses, use{path, program})
	}
	return uses, nil
}

// finder collects the longest paths of an expression. Within a macro such as lanes.all(l, …), the
// path l.failed becomes lanes.map(l, l.failed): its value for every lane.
type finder struct {
	info  *ast.SourceInfo
	bound map[string]string // the variables of macros, and the path that each of them iterates over
	paths []string
}

func (f *finder) visit(e ast.Expr) {
	if root, ok := rootOf(e); ok {
		f.found(e, root)
		return
	}
	switch e.Kind() {
	case ast.SelectKind:
		f.visit(e.AsSelect().Operand())
	case ast.CallKind:
		if e.AsCall().IsMemberFunction() {
			f.visit(e.AsCall().Target())
		}
		f.visitAll(e.AsCall().Args())
	case ast.ListKind:
		f.visitAll(e.AsList().Elements())
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			f.visit(entry.AsMapEntry().Key())
			f.visit(entry.AsMapEntry().Value())
		}
	case ast.ComprehensionKind:
		f.comprehension(e.AsComprehension())
	}
}

func (f *finder) visitAll(es []ast.Expr) {
	for _, e := range es {
		f.visit(e)
	}
}

func (f *finder) comprehension(c ast.ComprehensionExpr) {
	over := ""
	if root, ok := rootOf(c.IterRange()); ok && !f.isBound(root) && c.IterVar2() == "" {
		over = f.text(c.IterRange())
	} else {
		f.visit(c.IterRange())
	}
	before := f.bound
	f.bound = maps.Clone(before)
	f.bound[c.IterVar()], f.bound[c.IterVar2()], f.bound[c.AccuVar()] = over, "", ""
	f.visit(c.LoopStep())
	f.bound = before
}

func (f *finder) isBound(name string) bool {
	_, is := f.bound[name]
	return is
}

func (f *finder) found(e ast.Expr, root string) {
	path := f.text(e)
	if over, bound := f.bound[root]; bound {
		if over == "" {
			return // a nested macro: its values have no short name
		}
		if e.Kind() == ast.IdentKind {
			return // the whole elements that filter keeps
		}
		path = fmt.Sprintf("%s.map(%s, %s)", over, root, path)
	}
	if path != "" && !slices.Contains(f.paths, path) {
		f.paths = append(f.paths, path)
	}
}

func (f *finder) text(e ast.Expr) string {
	text, err := parser.Unparse(e, f.info)
	if err != nil {
		return "" // cannot happen: a path of names and constants always has a text
	}
	return text
}

// rootOf returns the name with which a path begins. A path is a name, a field of a path, or a path
// indexed by a constant.
func rootOf(e ast.Expr) (name string, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return e.AsIdent(), true
	case ast.SelectKind:
		if !e.AsSelect().IsTestOnly() {
			return rootOf(e.AsSelect().Operand())
		}
	case ast.CallKind:
		args := e.AsCall().Args()
		if e.AsCall().FunctionName() == "_[_]" && args[1].Kind() == ast.LiteralKind {
			return rootOf(args[0])
		}
	}
	return "", false
}

func actual(uses []use, vars cel.PartialActivation) string {
	var parts []string
	for _, u := range uses {
		out, _, err := u.program.Eval(vars)
		if err != nil {
			parts = append(parts, fmt.Sprintf("%s: %v", u.path, err))
			continue
		}
		parts = append(parts, u.path+" = "+formatValue(out))
	}
	return strings.Join(parts, ", ")
}

// formatValue formats a value as in an expectation. It formats a group of fields, or a map, as
// JSON.
func formatValue(v ref.Val) string {
	if types.IsUnknown(v) {
		return "nothing to measure"
	}
	if list, ok := v.(traits.Lister); ok {
		var items []string
		for it := list.Iterator(); it.HasNext() == types.True; {
			items = append(items, formatValue(it.Next()))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	switch v := v.Value().(type) {
	case time.Duration:
		return v.String()
	case string:
		return fmt.Sprintf("%q", v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	default:
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(data)
	}
}
