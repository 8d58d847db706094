package behave

import (
	"fmt"

	"windtunnel.dev/internal/plural"
)

// Failure is an expectation that does not hold.
type Failure struct {
	File    string `json:"file"`
	Line    int    `json:"line"`             // of the step, from 1
	Step    string `json:"step"`             // the request line or the change
	Answer  int    `json:"answer,omitempty"` // the first of several answers for which it does not hold, from 1; 0 for the step as a whole
	Answers int    `json:"answers,omitempty"`
	Others  int    `json:"others,omitempty"` // how many further answers it does not hold for
	Field   string `json:"field"`
	Got     string `json:"got"`
	Want    string `json:"want"`
}

// Error returns one line, such as
//
//	cases/x.yaml:12: GET http://shop.example/: status is 404, want 200
func (f Failure) Error() string {
	step := f.Step
	if f.Answer > 0 && f.Answers > 1 {
		step += fmt.Sprintf(" (answer %d of %d", f.Answer, f.Answers)
		if f.Others > 0 {
			step += fmt.Sprintf(", and %s", plural.Of(f.Others, "other"))
		}
		step += ")"
	}
	return fmt.Sprintf("%s:%d: %s: %s is %s, want %s", f.File, f.Line, step, f.Field, f.Got, f.Want)
}

// action returns the request line of a step, or its change.
func (s Step) action() string {
	switch {
	case s.Request.Request != "":
		return s.Request.Request
	case s.Apply != "":
		return "apply " + s.Apply
	case s.Delete != "":
		return "delete " + s.Delete
	case s.Scale != nil:
		return "scale"
	}
	return "config"
}
