// Package expect evaluates expectations on measurements. It stands between a scenario's expect
// lines, written in CEL (https://cel.dev), and the judgement of the run. Its one rule: errors in an
// expectation are found before the run, not after it.
package expect

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"

	"windtunnel.dev/sim/measure"
)

// Expectation is a condition on the measurements of one subject. Its names are
// the json names of measure.Subject.
type Expectation struct {
	text    string
	program cel.Program
	uses    []use
	subsets []subset
	lanes   []string // the lanes that it names
}

// Evaluation is the result of an expectation with the values of one subject.
type Evaluation struct {
	Text   string `json:"text"`
	OK     bool   `json:"ok"`
	Actual string `json:"actual"` // the values that it uses: reloads = 7, requests.failed = 0; or why it does not apply
	// Error is why the expectation could not be evaluated, such as a division by zero; it is not
	// met then.
	Error string `json:"error,omitempty"`
	// NotApplicable is why the expectation does not apply to the subject: it depends on a measurement
	// that does not. It is neither met nor failed then, and OK is false.
	NotApplicable string `json:"notApplicable,omitempty"`
}

// env declares every field of measure.Subject as a typed variable.
var env = func() *cel.Env {
	options := []cel.EnvOption{
		cel.CrossTypeNumericComparisons(true),
		cel.EnableMacroCallTracking(), // for the text of lists that macros create
		ext.NativeTypes(ext.ParseStructTag("json"), reflect.TypeFor[measure.Subject]()),
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[measure.Subject]()) {
		options = append(options, cel.Variable(jsonName(field), celType(field.Type)))
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		panic(fmt.Sprintf("measure.Subject has no CEL form: %v", err))
	}
	return env
}()

// Compile parses an expectation. The error is one line: the place, the problem at that place, and
// the names that exist there.
func Compile(text string) (Expectation, error) {
	parsed, checked, err := compile(text)
	if err != nil {
		return Expectation{}, err
	}
	program, err := programOf(checked)
	if err != nil {
		return Expectation{}, fmt.Errorf("expectation %q: %w", text, err)
	}
	uses, err := usesOf(parsed)
	if err != nil {
		return Expectation{}, fmt.Errorf("expectation %q: %w", text, err)
	}
	subsets, err := subsetsOf(parsed)
	if err != nil {
		return Expectation{}, fmt.Errorf("expectation %q: %w", text, err)
	}
	return Expectation{text: strings.TrimSpace(text), program: program, uses: uses, subsets: subsets, lanes: lanesOf(parsed)}, nil
}

func compile(text string) (parsed, checked *cel.Ast, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, errors.New("an expectation is empty; write a condition, as in reloads == 0")
	}
	parsed, issues := env.Parse(text)
	if issues.Err() == nil {
		checked, issues = env.Check(parsed)
	}
	if issues.Err() != nil {
		return nil, nil, explain(text, issues.Errors())
	}
	if checked.OutputType() != cel.BoolType {
		return nil, nil, fmt.Errorf("expectation %q is of type %s, not a condition; compare it with a value, as in reloads == 0", text, checked.OutputType())
	}
	if err := checkCauses(text, parsed); err != nil {
		return nil, nil, err
	}
	return parsed, checked, nil
}

// String returns the expectation as it was written.
func (e Expectation) String() string { return e.text }

// Evaluate evaluates the expectation with the values of a subject. It is not met if it
// depends on missing data: on a quantile of an empty set, for example because no change
// converged; on a figure that could not be measured; on all() of an empty list; on a lane
// that does not exist. (But a lane's quantile of an empty set is zero;
// lanes.all(l, l.latency.n > 0) detects that.) Nor is it met if the evaluation fails, for
// example by a division by zero or an index beyond the end: then Evaluation.Error says why.
// It does not apply if its result depends on a measurement that does not apply to the subject:
// reloads == 0 || requests.failed == 0 holds without reloads if no request failed.
// An error that is returned is a defect of the measurements.
func (e Expectation) Evaluate(s measure.Subject) (Evaluation, error) {
	why, err := e.notApplicable(s)
	if err != nil || why != "" {
		return Evaluation{Text: e.text, Actual: why, NotApplicable: why}, err
	}
	vars, err := variables(s)
	if err != nil {
		return Evaluation{}, fmt.Errorf("expectation %q of %s: %w", e.text, s.Name, err)
	}
	out, _, err := e.program.Eval(vars)
	if err != nil {
		return Evaluation{Text: e.text, Actual: "it cannot be evaluated: " + oneLine(err), Error: oneLine(err)}, nil
	}
	evaluation := Evaluation{Text: e.text, OK: out == types.True, Actual: actual(e.uses, vars)}
	for _, nothing := range []string{empty(e.subsets, vars), unknownLane(e.lanes, s.Lanes)} {
		if nothing != "" {
			evaluation.OK = false
			evaluation.Actual = strings.TrimPrefix(evaluation.Actual+"; "+nothing, "; ")
		}
	}
	return evaluation, nil
}

// oneLine formats an error of CEL as a single line, for a table.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
