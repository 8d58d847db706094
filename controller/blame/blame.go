// Package blame finds out which of many changes nginx refuses. It stands
// between a configuration that failed its test and those who want the rest of
// it served. Its one rule: it only asks; who is asked, and what is done with
// the guilty, is its caller's business.
package blame

import "slices"

// Find returns those suspects that are not taken together with all the others.
// Of two that clash it is the later one. It asks taken about parts of suspects,
// in their order; about all of them it does not ask, for they are known to be
// refused. innocent says that not even none of them is taken, so that the fault
// is elsewhere. After an error, guilty are those that were found until then.
//
// For k guilty among n it asks about k log2(n) times.
func Find[T any](suspects []T, taken func([]T) (bool, error)) (guilty []T, innocent bool, err error) {
	ok, err := taken(nil)
	if err != nil || !ok {
		return nil, err == nil, err
	}
	s := search[T]{taken: taken}
	err = s.add(suspects, true)
	return s.guilty, false, err
}

type search[T any] struct {
	taken        func([]T) (bool, error)
	good, guilty []T
}

// add sorts part into good and guilty. refused says that good and part
// together are known to be refused.
func (s *search[T]) add(part []T, refused bool) error {
	if len(part) == 0 {
		return nil
	}
	if !refused {
		ok, err := s.taken(slices.Concat(s.good, part))
		if err != nil {
			return err
		}
		if ok {
			s.good = append(s.good, part...)
			return nil
		}
	}
	if len(part) == 1 {
		s.guilty = append(s.guilty, part[0])
		return nil
	}
	half, before := len(part)/2, len(s.guilty)
	if err := s.add(part[:half], false); err != nil {
		return err
	}
	// If the first half is good, it must be the second.
	return s.add(part[half:], len(s.guilty) == before)
}
