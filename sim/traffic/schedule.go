package traffic

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/sim/event"
)

// shot is one request before it is sent.
type shot struct {
	due    time.Time // when it is meant to be sent
	target Target
	body   []byte
}

// ticket is the header by which a request finds its shot again on the way
// through vegeta; it does not go out.
const ticket = "X-Windtunnel-Shot"

// allowance is how late a shot may be at the end of the run without being
// missed: it was on its way.
const allowance = 10 * time.Millisecond

// schedule decides what is sent when. The times are those of a generator that
// is never late: the pacer is asked in the schedule's own time, not the
// clock's, so that being late shows as Lag and does not thin out the load.
type schedule struct {
	ctx    context.Context
	attack Attack
	lane   lane
	random *rand.Rand
	start  time.Time
	due    time.Duration // of the last shot, since start
	made   uint64        // shots
	ended  time.Duration // since start, when ctx was done; known when over is closed
	over   chan struct{}

	mu      sync.Mutex
	waiting []uint64        // shots whose request has not been made, in order
	shots   map[uint64]shot // those not yet sent
}

func newSchedule(ctx context.Context, a Attack, l lane) *schedule {
	stream := fnv.New64a()
	stream.Write([]byte(l.name))
	s := &schedule{
		ctx:    ctx,
		attack: a,
		lane:   l,
		random: rand.New(rand.NewPCG(a.Seed, stream.Sum64())),
		start:  time.Now(),
		over:   make(chan struct{}),
		shots:  map[uint64]shot{},
	}
	context.AfterFunc(ctx, func() {
		s.ended = time.Since(s.start)
		close(s.over)
	})
	return s
}

// Pace waits until the next shot is due and makes it. It does the waiting
// itself, so that the end of the run is not held up by a slow rate.
func (s *schedule) Pace(time.Duration, uint64) (time.Duration, bool) {
	wait, stop := s.attack.Rate.Pace(s.due, s.made)
	if stop {
		return 0, true
	}
	due := s.due + max(wait, 0)
	if !s.sleepUntil(s.start.Add(due)) {
		return 0, true
	}
	s.due = due
	s.make()
	return 0, false
}

// Rate is the pacer's; vegeta asks for it but Attack does not.
func (s *schedule) Rate(elapsed time.Duration) float64 { return s.attack.Rate.Rate(elapsed) }

// sleepUntil says whether the attack goes on.
func (s *schedule) sleepUntil(t time.Time) bool {
	wait := time.Until(t)
	if wait <= 0 {
		return s.ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

func (s *schedule) make() {
	made := shot{
		due:    s.start.Add(s.due),
		target: s.attack.Targets[s.random.IntN(len(s.attack.Targets))],
	}
	if s.lane.body != nil {
		made.body = s.lane.body(s.random)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shots[s.made] = made
	s.waiting = append(s.waiting, s.made)
	s.made++
}

// target is a vegeta.Targeter. vegeta calls it once for each time that Pace
// did not stop; the first shot that waits is the next one.
func (s *schedule) target(t *vegeta.Target) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return errors.New("more requests than shots")
	}
	number := s.waiting[0]
	s.waiting = s.waiting[1:]
	made := s.shots[number]
	t.Method = s.lane.method
	t.URL = s.attack.url(s.lane.door, made.target)
	t.Body = made.body
	t.Header = http.Header{"Host": {made.target.Host}, ticket: {strconv.FormatUint(number, 10)}}
	return nil
}

// take finds the shot of a request.
func (s *schedule) take(r *http.Request) (shot, error) {
	number, err := strconv.ParseUint(r.Header.Get(ticket), 10, 64)
	if err != nil {
		return shot{}, fmt.Errorf("a request that was not scheduled: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	made, ok := s.shots[number]
	if !ok {
		return shot{}, fmt.Errorf("request %d was sent twice", number)
	}
	delete(s.shots, number)
	return made, nil
}

// account logs, at the end, how many requests were due and how many were never sent.
func (s *schedule) account() {
	due, missed := int(s.made), len(s.shots)
	for at, made := s.due, s.made; ; made++ {
		wait, stop := s.attack.Rate.Pace(at, made)
		at += max(wait, 0)
		if stop || at > s.end()-allowance {
			break
		}
		due++
		missed++
	}
	s.attack.Log.Write(event.Event{At: s.attack.Log.Now(), Subject: s.attack.Subject, Load: &event.Load{
		Lane: s.lane.name, Due: due, Missed: missed,
	}})
}

// end returns when the run ended. An attack may notice the end before that time has
// been recorded; then end waits for it.
func (s *schedule) end() time.Duration {
	if s.ctx.Err() == nil {
		return time.Since(s.start)
	}
	<-s.over
	return s.ended
}
