package derive

import (
	"fmt"

	"windtunnel.dev/sim/behave"
)

// Recording completes derived cases with the answers of a controller.
type Recording struct {
	asked    []*behave.Case
	derived  map[string]*Case        // by the name of the case that is asked
	complete map[string]*behave.Case // likewise
}

// NewRecording returns a recording without answers. folder is the name of the folder of the cases,
// which is part of their names. An error is a bug, because derived cases must be valid.
func NewRecording(cases []*Case, folder string, known behave.Known) (*Recording, error) {
	r := &Recording{derived: map[string]*Case{}, complete: map[string]*behave.Case{}}
	for _, c := range cases {
		one, err := parsed(c.Placeholder(), c.Name+".yaml", known)
		if err != nil {
			return nil, fmt.Errorf("the case that was derived is not valid, which is a bug of windtunnel: %w", err)
		}
		one.Name = folder + "/" + c.Name
		r.asked = append(r.asked, one)
		r.derived[one.Name] = c
	}
	return r, nil
}

func parsed(c *behave.Case, file string, known behave.Known) (*behave.Case, error) {
	text, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	return behave.Parse(file, text, known)
}

// Asked returns the cases to run, in the order of the derived ones. Their expectations are
// placeholders.
func (r *Recording) Asked() []*behave.Case { return r.asked }

// Add completes one of the cases that Asked returns with its records, one for each step. It does not
// keep the records, whose bodies add up to gigabytes in a large cluster.
func (r *Recording) Add(c *behave.Case, records []behave.Record) {
	r.complete[c.Name] = r.derived[c.Name].Complete(records)
}

// Case returns case n with its answers as expectations, or nil if they were not recorded.
func (r *Recording) Case(n int) *behave.Case { return r.complete[r.asked[n].Name] }

// head is the comment at the beginning of recorded cases.
const head = "# Recorded by windtunnel: what a controller answered, not what ingress-nginx promises.\n"

// File returns the file of a recorded case.
func File(c *behave.Case) ([]byte, error) {
	text, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	return append([]byte(head), text...), nil
}
