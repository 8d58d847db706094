package expect

import (
	"maps"
	"reflect"
	"slices"

	"cel.dev/cel-go/cel"

	"windtunnel.dev/sim/measure"
)

// programOf makes a program that can be evaluated with unknown values.
func programOf(checked *cel.Ast) (cel.Program, error) {
	return env.Program(checked, cel.EvalOptions(cel.OptPartialEval))
}

// variables returns the subject's fields by JSON name. A quantile of an empty set is unknown, not
// zero, and so is a figure without data, or one that does not apply.
func variables(s measure.Subject) (cel.PartialActivation, error) {
	vars := values(s)
	var unknown []*cel.AttributePatternType
	v := reflect.ValueOf(s)
	for i, field := range reflect.VisibleFields(v.Type()) {
		unknown = append(unknown, missingQuantiles(v.Field(i), jsonName(field))...)
	}
	return cel.PartialVars(vars, slices.Concat(unknown, patterns(measure.Unseen(s)), notApplicable(s))...)
}

// values returns the subject's fields by JSON name. A cause that did not occur is zero, not missing.
func values(s measure.Subject) map[string]any {
	s.Requests.Causes = everyCause(s.Requests.Causes)
	s.Lanes = slices.Clone(s.Lanes)
	for i := range s.Lanes {
		s.Lanes[i].Causes = everyCause(s.Lanes[i].Causes)
	}
	vars := map[string]any{}
	v := reflect.ValueOf(s)
	for i, field := range reflect.VisibleFields(v.Type()) {
		vars[jsonName(field)] = v.Field(i).Interface()
	}
	return vars
}

// notApplicable returns the measurements that do not apply to the subject.
func notApplicable(s measure.Subject) (all []*cel.AttributePatternType) {
	for _, n := range s.NotApplicable {
		all = append(all, patterns(n.Measurements)...)
	}
	return all
}

// missingQuantiles returns the paths, from the name of a variable, of quantiles of empty sets and
// of trends through too few points. It excludes those in lists: for CEL, a list with one unknown
// part is unknown as a whole.
func missingQuantiles(v reflect.Value, name string, path ...string) []*cel.AttributePatternType {
	var found []*cel.AttributePatternType
	if t, ok := v.Interface().(measure.Trend); ok {
		for _, number := range []string{"perHour", "low", "high"} {
			if t.N == 0 {
				found = append(found, pattern(name, append(path, number)))
			}
		}
		return found
	}
	if d, ok := v.Interface().(measure.Durations); ok {
		for _, quantile := range []string{"p50", "p90", "p99", "max"} {
			if d.N == 0 {
				found = append(found, pattern(name, append(path, quantile)))
			}
		}
		return found
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		inner := append(slices.Clone(path), jsonName(v.Type().Field(i)))
		found = append(found, missingQuantiles(v.Field(i), name, inner...)...)
	}
	return found
}

func pattern(name string, path []string) *cel.AttributePatternType {
	p := cel.AttributePattern(name)
	for _, step := range path {
		p = p.QualString(step)
	}
	return p
}

func everyCause(seen map[string]int) map[string]int {
	all := map[string]int{}
	for _, cause := range measure.Causes {
		all[string(cause)] = 0
	}
	maps.Copy(all, seen)
	return all
}
