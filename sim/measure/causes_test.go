package measure_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// A cause that occurs in the log but is missing in Causes would make every run void.
func TestEveryCauseIsKnown(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../event/request.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); !ok || name.Name != "Cause" {
			return true
		}
		for _, value := range spec.Values {
			text, err := strconv.Unquote(value.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			found++
			if cause := event.Cause(text); cause != event.OurCancel && !slices.Contains(measure.Causes, cause) {
				t.Errorf("measure.Causes lacks %s", cause)
			}
		}
		return true
	})
	if found != len(measure.Causes)+1 {
		t.Errorf("package event has %d causes, measure.Causes has %d, want one less", found, len(measure.Causes))
	}
}
