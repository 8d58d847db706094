package kubeapi

import (
	"errors"

	"k8s.io/apimachinery/pkg/watch"
)

// Apply makes changes in their order, as if one by one, but takes the lock only
// once for each run of changes to different objects of one resource. It returns
// the version after each, 0 for those that failed, with their errors joined; one
// that fails does not keep the others from being made.
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

// applyRun makes the first changes, at least one, and says how many.
func (w Writer) applyRun(changes []Change, versions []uint64) (int, error) {
	run, err := w.gather(changes)
	if err != nil {
		return len(run) + 1, errors.Join(err, w.commitRun(run, changes, versions))
	}
	return len(run), w.commitRun(run, changes, versions)
}

// gather returns the requests of the longest run; it ends before an error, too.
func (w Writer) gather(changes []Change) ([]*request, error) {
	var run []*request
	seen := make(map[string]bool, len(changes))
	for _, change := range changes {
		r, err := w.request(change.Object)
		if err != nil {
			return run, err
		}
		if len(run) > 0 && (r.objects != run[0].objects || seen[r.key()]) {
			break
		}
		seen[r.key()] = true
		run = append(run, r)
	}
	return run, nil
}

func (w Writer) commitRun(run []*request, changes []Change, versions []uint64) error {
	if len(run) == 0 {
		return nil
	}
	failed := w.tryRun(run, changes, versions)
	var errs []error
	for i, err := range failed {
		if moved(err) {
			versions[i], err = w.make(run[i], changes[i])
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// tryRun makes the changes of a run under one lock and returns the error of each.
func (w Writer) tryRun(run []*request, changes []Change, versions []uint64) []error {
	failed := make([]error, len(run))
	decided := make([]transition, len(run))
	w.s.creating.RLock()
	defer w.s.creating.RUnlock()
	for i, r := range run {
		if changes[i].Kind == watch.Deleted && r.objects == w.s.namespaces {
			failed[i] = errMoved // to be made alone: it needs locks that are held here
			continue
		}
		decided[i], failed[i] = w.decide(r, changes[i])
	}
	c := run[0].objects
	c.mu.Lock()
	for i, t := range decided {
		switch {
		case failed[i] != nil:
		case t.kind == "":
			versions[i] = t.base.rv
		default:
			var o *object
			if o, failed[i] = c.apply(t); failed[i] == nil {
				versions[i] = o.rv
			}
		}
	}
	c.mu.Unlock()
	for i, t := range decided {
		if failed[i] == nil {
			failed[i] = w.settle(t)
		}
	}
	return failed
}
