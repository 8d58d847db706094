package fault

import "k8s.io/apimachinery/pkg/api/errors"

// ResumeExpired tells watches that resume from a version that it is too old: as
// an ERROR in the stream, which then ends. Never a streaming list, which no real
// server tells that: its client would try again at once, for ever.
func ResumeExpired() Fault {
	return Fault{
		Name:    "resume-expired",
		Applies: func(c *Call) bool { return c.Verb == "watch" && c.Begins && c.Asked != "" && c.Asked != "0" },
		Stream: func(c *Call) Step {
			return Step{Err: errors.NewResourceExpired("too old resource version: " + c.Asked)}
		},
	}
}
