package simulate

import "time"

// limiter is a token bucket with one token, like the rate limiter of ingress-nginx.
type limiter struct {
	every time.Duration
	next  time.Duration // when there is a token
}

func newLimiter(rate float64) limiter { return limiter{every: seconds(1 / rate)} }

// reserve takes the next token, and returns the time when it is available.
func (l *limiter) reserve(now time.Duration) time.Duration {
	at := max(now, l.next)
	l.next = at + l.every
	return at
}

// take takes a token if there is one now.
func (l *limiter) take(now time.Duration) bool {
	if now < l.next {
		return false
	}
	l.next = now + l.every
	return true
}

// servers are processors that work on one task after another, in the order of their arrival.
type servers []time.Duration // when each is free

// take gives a task to the processor that is free first. It returns when the task is done.
func (s servers) take(now, takes time.Duration) time.Duration {
	first := 0
	for i, free := range s {
		if free < s[first] {
			first = i
		}
	}
	s[first] = max(now, s[first]) + takes
	return s[first]
}
