package cluster

import (
	"errors"

	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Apply applies the changes in order, as if one by one, but takes the lock only once for each run
// of changes to different objects of one resource. It returns the version after each change, or 0
// for a failed change, and the joined errors. It goes on after a failed change.
func (w Writer) Apply(changes []Change) ([]uint64, error) {
	versions := make([]uint64, len(changes))
	var errs []error
	for done := 0; done < len(changes); {
		n, err := w.applyRun(changes[done:], versions[done:])
		if err != nil {
			errs = append(errs, err)
		}
		done += n
	}
	return versions, errors.Join(errs...)
}

// applyRun applies the first changes, at least one, and returns their number.
func (w Writer) applyRun(changes []Change, versions []uint64) (int, error) {
	run, err := w.gather(changes)
	if err != nil {
		return len(run) + 1, errors.Join(err, w.commitRun(run, changes, versions))
	}
	return len(run), w.commitRun(run, changes, versions)
}

// gather returns the operations of the longest run at the beginning of changes. A run also ends
// before an error.
func (w Writer) gather(changes []Change) ([]*Operation, error) {
	var run []*Operation
	seen := make(map[string]bool, len(changes))
	for _, change := range changes {
		op, err := w.operation(change.Object)
		if err != nil {
			return run, err
		}
		if len(run) > 0 && (op.Objects != run[0].Objects || seen[op.Key()]) {
			break
		}
		seen[op.Key()] = true
		run = append(run, op)
	}
	return run, nil
}

func (w Writer) commitRun(run []*Operation, changes []Change, versions []uint64) error {
	if len(run) == 0 {
		return nil
	}
	failed := w.tryRun(run, changes, versions)
	var errs []error
	for i, err := range failed {
		if store.IsConflict(err) {
			versions[i], err = w.writeRetrying(run[i], changes[i])
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// tryRun applies the changes of a run under one lock and returns the error of each.
func (w Writer) tryRun(run []*Operation, changes []Change, versions []uint64) []error {
	failed := make([]error, len(run))
	decided := make([]store.Transition, len(run))
	w.s.creating.RLock()
	defer w.s.creating.RUnlock()
	defer func() {
		for _, op := range run {
			op.release()
		}
	}()
	for i, op := range run {
		if changes[i].Kind == watch.Deleted && w.s.hasContents(op.Objects) {
			failed[i] = store.ErrConflict // retried on its own, because it needs locks that are held here
			continue
		}
		decided[i], failed[i] = w.transition(op, changes[i])
		if failed[i] != nil && op.Objects == w.s.services {
			failed[i] = store.ErrConflict // retried on its own: earlier changes of the run may free what it asks for
		}
	}
	run[0].Objects.CommitMany(func(commit func(store.Transition) (*store.Object, error)) {
		for i, t := range decided {
			switch {
			case failed[i] != nil:
			case t.Kind == "":
				versions[i] = t.Base.Version
			default:
				var o *store.Object
				if o, failed[i] = commit(t); failed[i] == nil {
					versions[i] = o.Version
				}
			}
		}
	})
	for i, t := range decided {
		if failed[i] == nil {
			failed[i] = w.finish(run[i], t)
		}
	}
	return failed
}
