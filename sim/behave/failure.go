package behave

import (
	"fmt"

	"windtunnel.dev/internal/plural"
)

// Failure is an expectation that does not hold.
type Failure struct {
	// The file of the case.
	File string `json:"file"`
	// The line of the step, from 1.
	Line int `json:"line"`
	// The request line or the change.
	Step string `json:"step"`
	// The first of several answers for which it does not hold, from 1. Absent for the step as a whole.
	Answer int `json:"answer,omitempty"`
	// The number of answers.
	Answers int `json:"answers,omitempty"`
	// For how many further answers it does not hold.
	Others int `json:"others,omitempty"`
	// What was compared: status, header Location.
	Field string `json:"field"`
	// What came.
	Got string `json:"got"`
	// What was wanted.
	Want string `json:"want"`
	// What the step asks about: annotation/NAME, config/KEY, flag/NAME, field/NAME.
	About []string `json:"about,omitempty"`
}

// Error returns one line, such as
//
//	cases/x.yaml:12: GET http://shop.example/: status is 404, want 200
func (f Failure) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s is %s, want %s", f.File, f.Line, f.Action(), f.Field, f.Got, f.Want)
}

// Action returns the step and, of several answers, which one failed:
//
//	GET http://shop.example/ (answer 2 of 20, and 3 others)
func (f Failure) Action() string {
	if f.Answer == 0 || f.Answers < 2 {
		return f.Step
	}
	others := ""
	if f.Others > 0 {
		others = ", and " + plural.Of(f.Others, "other")
	}
	return fmt.Sprintf("%s (answer %d of %d%s)", f.Step, f.Answer, f.Answers, others)
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
