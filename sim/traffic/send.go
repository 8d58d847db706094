package traffic

import "golang.org/x/sync/errgroup"

// sendAll sends each shot when it is due, in a goroutine of its own, and returns when all have ended.
// While limit shots are in flight, the next one waits.
func (s *schedule) sendAll(limit int, send func(shot)) {
	var underWay errgroup.Group
	underWay.SetLimit(limit)
	for next, ok := s.await(); ok; next, ok = s.await() {
		underWay.Go(func() error {
			if s.take(next.number) {
				send(next)
			}
			return nil
		})
	}
	_ = underWay.Wait() // no error
}
