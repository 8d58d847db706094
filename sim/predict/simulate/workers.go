package simulate

import (
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"
)

// pollEvery is how often workers look for new backends, as in ingress-nginx.
const pollEvery = time.Second

// generation is the set of workers that one load of the configuration started.
type generation struct {
	number  int // from 1; the first one serves at the beginning
	began   time.Duration
	workers []*worker
	retired bool // it accepts no connections
	alive   int  // workers that have not ended
}

// worker is a worker process of nginx.
type worker struct {
	of    *generation
	post  int           // the number of the POST that it serves; none: it has no backends yet
	looks bool          // it will look for new backends, or applies them
	phase time.Duration // of its polls
}

func (s *simulation) newest() *generation { return s.generations[len(s.generations)-1] }

// startGeneration starts the next generation. Its workers load the backends at once.
func (s *simulation) startGeneration() {
	g := &generation{number: 1, began: s.now, alive: s.in.Settings.Workers}
	if len(s.generations) > 0 {
		g.number = s.newest().number + 1
	}
	s.generations = append(s.generations, g)
	// Workers poll once a second after their start. They start shortly after one another.
	phase := s.now % pollEvery
	if g.number == 1 {
		phase = time.Duration(s.random.Int64N(int64(pollEvery)))
	}
	stagger := seconds(s.sample(Stagger, Size{Fixed: 1}))
	for i := range s.in.Settings.Workers {
		w := &worker{of: g, post: none, phase: (phase + time.Duration(i)*stagger) % pollEvery}
		g.workers = append(g.workers, w)
		if g.number == 1 {
			w.post = 0
			continue
		}
		w.looks = true
		s.apply(w)
	}
	s.weigh()
}

// announce makes all workers look for the newest POST, at their next poll or at once.
func (s *simulation) announce() {
	for _, g := range s.generations {
		for _, w := range g.workers {
			if !g.retired {
				s.notify(w)
			}
		}
	}
}

// notify makes a worker look for new backends, unless it will do so anyway.
func (s *simulation) notify(w *worker) {
	if w.looks {
		return
	}
	w.looks = true
	if s.in.Settings.Push {
		s.after(s.sample(Announce, Size{Fixed: 1}), func() { s.apply(w) })
		return
	}
	s.at(s.nextPoll(w), func() { s.apply(w) })
}

// nextPoll returns the next time at which a worker polls.
func (s *simulation) nextPoll(w *worker) time.Duration {
	since := s.now - w.phase
	next := w.phase + since/pollEvery*pollEvery
	for next <= s.now {
		next += pollEvery
	}
	return next
}

// apply makes a worker apply the newest backends. It serves them when a processor has done the work.
func (s *simulation) apply(w *worker) {
	if w.of.retired {
		return
	}
	seen := len(s.posted)
	work := s.sample(Apply, Size{Fixed: 1, PerMiB: s.missing(w)})
	s.at(s.processors.take(s.now, seconds(work)), func() {
		w.looks = false
		if w.of.retired {
			return
		}
		w.post = seen
		s.advance()
		if len(s.posted) > seen {
			s.notify(w)
		}
	})
}

// missing returns the MiB that a worker must read: the changes that it has not applied, and before
// them the whole list if it was posted meanwhile or the worker has no backends yet.
func (s *simulation) missing(w *worker) float64 {
	sum := 0.0
	for i := len(s.posted) - 1; i >= max(w.post, 0); i-- {
		sum += s.posted[i].sent
		if s.posted[i].full {
			return sum
		}
	}
	if w.post == none {
		sum += s.list
	}
	return sum
}

// retire makes a generation stop accepting requests. Its workers end when their streams do, at the
// latest after the shutdown timeout.
func (s *simulation) retire(g *generation) {
	g.retired = true
	s.loseByReload()
	for range g.workers {
		s.after(s.lastStream(g), func() {
			g.alive--
			s.weigh()
		})
	}
	s.advance()
}

// lastStream returns the seconds until a worker of a generation that has just retired ends. It counts
// streams that the shutdown timeout cuts.
func (s *simulation) lastStream(g *generation) float64 {
	ends := s.sample(Drain, Size{Fixed: 1})
	timeout := s.in.Settings.ShutdownTimeout.Seconds()
	if timeout == 0 { // means none, as in nginx
		timeout = math.Inf(1)
	}
	for _, lane := range s.in.Traffic {
		if lane.Last == 0 {
			continue
		}
		last := lane.Last.Seconds()
		age := min(last, (s.now - g.began).Seconds())
		open := s.poisson(lane.Rate * age / float64(len(g.workers)))
		if open == 0 || age == 0 {
			continue
		}
		youngest := age * (1 - math.Pow(s.random.Float64(), 1/open))
		ends = max(ends, last-youngest)
		s.out.Lost.Cut += open * max(0, min((last-timeout)/age, 1))
	}
	return min(ends, max(timeout, s.costs[Drain].At(Size{Fixed: 1})))
}

// poisson returns a random number with a Poisson distribution.
func (s *simulation) poisson(mean float64) float64 {
	if mean <= 0 {
		return 0
	}
	return distuv.Poisson{Lambda: mean, Src: s.source}.Rand()
}

// wait adds changes that are on their way to the workers, and checks which of them are served.
func (s *simulation) wait(served []*change) {
	for _, c := range served {
		if c.generation != none && c.post != none {
			s.waiting = append(s.waiting, c)
		}
	}
	s.advance()
}

// advance finds the changes that are served now.
func (s *simulation) advance() {
	var accepting []span
	for _, g := range s.generations {
		if !g.retired {
			accepting = append(accepting, g.posts())
		}
	}
	left := s.waiting[:0]
	for _, c := range s.waiting {
		every := true
		for _, span := range accepting {
			if c.first == none && span.generation >= c.generation && span.most >= c.post {
				c.first = s.now
			}
			every = every && span.generation >= c.generation && span.least >= c.post
		}
		if every {
			c.last = s.now
			continue
		}
		left = append(left, c)
	}
	s.waiting = left
}

// span is the range of the POSTs that the workers of a generation serve.
type span struct{ generation, least, most int }

func (g *generation) posts() span {
	s := span{generation: g.number, least: math.MaxInt, most: none}
	for _, w := range g.workers {
		s.least, s.most = min(s.least, w.post), max(s.most, w.post)
	}
	return s
}
