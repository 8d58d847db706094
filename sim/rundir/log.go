package rundir

import (
	"fmt"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/event"
)

// Started reports whether the run reached its first round. A log that cannot be read did not.
func (d Dir) Started() bool {
	file, err := readfile.Open(d.File(Events))
	if err != nil {
		return false
	}
	defer file.Close()
	for e, err := range event.Read(file) {
		if err != nil {
			return false
		}
		if e.Phase != nil && e.Phase.Name == event.RoundBegin {
			return true
		}
	}
	return false
}

// Changes returns the changes of the run, in the order of the log. They are those of the first subject:
// all subjects get the same changes. The returned seed is otherwise if the log has no Run event.
func (d Dir) Changes(otherwise uint64) (changes []event.Change, seed uint64, err error) {
	file, err := readfile.Open(d.File(Events))
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	seed = otherwise
	subject := ""
	for e, err := range event.Read(file) {
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("%s: %w", file.Name(), err)
		case e.Run != nil:
			seed = e.Run.Seed
			if len(e.Run.Subjects) > 0 {
				subject = e.Run.Subjects[0]
			}
		case e.Change != nil && e.Subject == subject:
			changes = append(changes, *e.Change)
		}
	}
	return changes, seed, nil
}
