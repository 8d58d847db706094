package traffic

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
)

// shot is one request before it is sent.
type shot struct {
	number uint64    // of the attack, from 0
	due    time.Time // when it is meant to be sent
	target Target
	body   []byte
}

// allowance is how late a shot may be at the end of the run without being missed: it was on its
// way.
const allowance = 10 * time.Millisecond

// schedule decides what is sent when. Its times are those of a generator that is never late: it
// asks the attack's pacer with the times at which shots are due, not with the clock. So a late
// generator shows up as Lag, and does not reduce the load.
type schedule struct {
	ctx    context.Context // ends with the run
	attack Attack
	lane   lane
	random *rand.Rand
	popularity
	start time.Time
	due   time.Duration // of the last shot, since start
	made  uint64        // shots
	ours  int           // of them, in our share

	noteEnd func()        // sets ended, once
	ended   time.Duration // since start: when the first goroutine saw that ctx is done

	inFlight context.Context // ends when the grace period after the run is over
	mu       sync.Mutex
	unsent   map[uint64]bool // numbers of the shots that are made, and not yet taken
}

func newSchedule(ctx, inFlight context.Context, a Attack, l lane) *schedule {
	stream := fnv.New64a()
	stream.Write([]byte(l.name))
	s := &schedule{
		ctx:        ctx,
		attack:     a,
		lane:       l,
		random:     rand.New(rand.NewPCG(a.Seed, stream.Sum64())),
		popularity: newPopularity(a.Targets, a.Zipf, a.Seed),
		start:      a.Start,
		inFlight:   inFlight,
		unsent:     map[uint64]bool{},
	}
	if s.start.IsZero() {
		s.start = time.Now()
	}
	s.noteEnd = sync.OnceFunc(func() { s.ended = time.Since(s.start) })
	context.AfterFunc(ctx, s.noteEnd)
	return s
}

// await waits until the next shot of the attack's share is due, and returns it. It returns false if
// there is none: the run or the pacer has ended. The shot counts as unsent until it is taken. It does
// the waiting itself, so that a slow rate does not delay the end of the run.
func (s *schedule) await() (shot, bool) {
	for {
		wait, stop := s.attack.Rate.Pace(s.due, s.made)
		if stop {
			return shot{}, false
		}
		due := s.due + max(wait, 0)
		ours := s.attack.Share.has(s.made)
		if ours && !s.sleepUntil(s.start.Add(due)) || !ours && s.isOver(due) {
			return shot{}, false
		}
		s.due = due
		if made := s.make(); ours {
			s.expect(made)
			return made, true
		}
	}
}

// isOver reports whether the run ended before a time since start.
func (s *schedule) isOver(due time.Duration) bool { return s.ctx.Err() != nil && due > s.end() }

// sleepUntil returns false if the run has ended by then.
func (s *schedule) sleepUntil(t time.Time) bool {
	if wait := time.Until(t); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
		}
	}
	return s.ctx.Err() == nil // both may have happened
}

// make makes the next shot, even if another generator sends it, so that all generators take the
// same values from the random stream.
func (s *schedule) make() shot {
	made := shot{
		number: s.made,
		due:    s.start.Add(s.due),
		target: s.choose(s.random),
	}
	if s.lane.http != nil && s.lane.http.body != nil {
		made.body = s.lane.http.body(s.random)
	}
	s.made++
	if s.attack.Share.has(made.number) {
		s.ours++
	}
	return made
}

// expect counts a shot as unsent until it is taken.
func (s *schedule) expect(made shot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unsent[made.number] = true
}

// take reports whether the caller may send the shot of that number, at once. It returns false if the
// grace period after the run is over: then the shot stays unsent.
func (s *schedule) take(number uint64) bool {
	if s.inFlight.Err() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unsent, number)
	return true
}

// account logs, after the last request, how many requests were due and how many were never sent.
func (s *schedule) account() {
	due, missed := s.ours, len(s.unsent)
	end := s.end()
	for at, made := s.due, s.made; ; made++ {
		wait, stop := s.attack.Rate.Pace(at, made)
		at += max(wait, 0)
		if stop || at > end-allowance {
			break
		}
		if s.attack.Share.has(made) {
			due++
			missed++
		}
	}
	s.attack.Log.Write(event.Event{At: s.attack.Log.Now(), Subject: s.attack.Subject, Load: &event.Load{
		Lane: s.lane.name, Due: due, Missed: missed,
	}})
}

// end returns when the run ended, or the time until now if it has not.
func (s *schedule) end() time.Duration {
	if s.ctx.Err() == nil {
		return time.Since(s.start)
	}
	s.noteEnd()
	return s.ended
}
