package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"windtunnel.dev/sim/event"
)

// backendsPath is the path of the controller's POSTs of backends.
const backendsPath = "/configuration/backends"

// refusedPost matches the error of a sync whose POST of backends nginx refused.
var refusedPost = regexp.MustCompile(`sending (\d+) bytes to ` + backendsPath + `: `)

// backendsRefused returns the size of POSTs, in bytes, at which nginx refuses backends for the
// given reason. A POST that nginx refused earlier for another reason counts as good, because it did
// not reach this limit.
func backendsRefused(reason string) func(run) (end, *regexp.Regexp, error) {
	return func(r run) (end, *regexp.Regexp, error) {
		var e end
		for _, one := range r.events {
			if one.Sync == nil {
				continue
			}
			for _, post := range one.Sync.Posts {
				if post.Path == backendsPath && (e.bad == 0 || float64(post.Bytes) < e.bad) {
					e.good = max(e.good, float64(post.Bytes))
				}
			}
			refused := refusedPost.FindStringSubmatch(one.Sync.Error)
			if refused == nil {
				continue
			}
			size, err := strconv.ParseFloat(refused[1], 64)
			if err != nil {
				return e, nil, err
			}
			switch because := strings.Contains(one.Sync.Error, reason); {
			case because && (e.bad == 0 || size < e.bad):
				e.bad = size
			case !because && (e.bad == 0 || size < e.bad):
				e.good = max(e.good, size)
			}
		}
		e.client = unserved(r)
		return e, regexp.MustCompile(regexp.QuoteMeta(strings.TrimSpace(reason))), nil
	}
}

// unserved describes how many changes of endpoints never reached nginx, and the causes of failed requests.
func unserved(r run) string {
	return fmt.Sprintf("%s of %s changes of endpoints never reach nginx; requests: %s",
		number(float64(r.result.Changes.Unconverged), false), number(float64(r.result.Changes.Made), false), failures(r, func(event.Event) bool { return true }))
}

// failures lists the causes of failed requests, with their numbers.
func failures(r run, of func(event.Event) bool) string {
	causes := map[event.Cause]int{}
	for _, e := range r.events {
		if e.Request != nil && e.Request.Cause != "" && e.Request.Cause != event.OurCancel && of(e) {
			causes[e.Request.Cause]++
		}
	}
	if len(causes) == 0 {
		return "none fails"
	}
	var all []string
	for _, cause := range slices.Sorted(maps.Keys(causes)) {
		all = append(all, fmt.Sprintf("%s %s", number(float64(causes[cause]), false), cause))
	}
	return strings.Join(all, ", ")
}

// endpoints returns a text with the number of endpoints in a POST of the given size, from a fit of
// the runs' POSTs.
func endpoints(runs []run, bytes float64) string {
	var ready, sizes []float64
	for _, r := range runs {
		for _, e := range r.events {
			if e.Sync == nil {
				continue
			}
			for _, post := range e.Sync.Posts {
				if post.Path != backendsPath {
					continue
				}
				n := float64(readyBefore(r, e.At-e.Sync.Took))
				ready, sizes = append(ready, n), append(sizes, float64(post.Bytes))
			}
		}
	}
	base, slope, ok := fit(ready, sizes)
	if !ok || slope <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s endpoints at %s bytes each", number((bytes-base)/slope, true), number(slope, false))
}

// evicted returns a function that finds the end of a dictionary of certificates, in numbers of
// hosts. Hosts whose handshakes got another certificate were evicted.
func evicted(pattern string) func(run) (end, *regexp.Regexp, error) {
	return func(r run) (end, *regexp.Regexp, error) {
		asked, wrong := map[string]bool{}, map[string]bool{}
		for _, e := range r.events {
			if e.Request == nil || e.Request.Lane != "tls" || e.Request.Cause == event.OurCancel {
				continue
			}
			asked[e.Request.Host] = true
			if e.Request.Cause == event.WrongCert {
				wrong[e.Request.Host] = true
			}
		}
		e := end{good: float64(len(asked) - len(wrong))}
		if len(wrong) > 0 {
			e.bad = e.good + 1
			e.client = "the default certificate at the other hosts: " + failures(r, func(e event.Event) bool { return e.Request.Lane == "tls" }) + " of " +
				number(float64(count(r, "tls")), false) + " handshakes"
		}
		return e, regexp.MustCompile(pattern), nil
	}
}

// count returns the number of finished requests of a lane.
func count(r run, lane string) (n int) {
	for _, e := range r.events {
		if e.Request != nil && e.Request.Lane == lane && e.Request.Cause != event.OurCancel {
			n++
		}
	}
	return n
}

// forgotten matches nginx's warning about the dictionaries of scores.
var forgotten = regexp.MustCompile(`balancer_ewma(_last_touched_at)?:set (failed|valid items)`)

// workerPoll is the interval at which a worker polls for new endpoints.
const workerPoll = time.Second

// scored returns the end of the dictionaries of scores, in numbers of endpoints. nginx's log has
// the time of the first warning to the second.
func scored(r run) (end, *regexp.Regexp, error) {
	line, err := r.line(nginxLog, forgotten)
	if err != nil {
		return end{}, nil, err
	}
	e := end{client: "requests: " + failures(r, func(event.Event) bool { return true })}
	if line == "" {
		e.good = float64(readyBefore(r, time.Duration(1<<63-1)))
		return e, forgotten, nil
	}
	at, err := time.ParseInLocation(nginxTime, line[:min(len(line), len(nginxTime))], time.Local)
	if err != nil {
		return e, nil, fmt.Errorf("%s: %w", nginxLog, err)
	}
	warned := at.Sub(r.start)
	e.good, e.bad = float64(readyBefore(r, warned-workerPoll-time.Second)), float64(readyBefore(r, warned+time.Second))
	return e, forgotten, nil
}

// nginxTime is the layout of times in nginx's log.
const nginxTime = "2006/01/02 15:04:05"

// readyBefore returns the number of pods that became ready before a time of the run.
func readyBefore(r run, at time.Duration) (n int) {
	for _, e := range r.events {
		if e.Pod != nil && e.Pod.State == "ready" && e.At < at {
			n++
		}
	}
	return n
}

// websockets returns a function that finds the number of websockets that were open when the first one
// failed.
func websockets(pattern string) func(run) (end, *regexp.Regexp, error) {
	return func(r run) (end, *regexp.Regexp, error) {
		const lane = "websocket"
		first := time.Duration(-1)
		var cause event.Cause
		hung := 0
		for _, e := range r.events {
			q := e.Request
			if q == nil || q.Lane != lane || opened(q) {
				continue
			}
			if q.Cause == event.OurCancel {
				hung++
			}
			if first < 0 || e.At < first {
				first, cause = e.At, q.Cause
			}
		}
		open := 0
		for _, e := range r.events {
			q := e.Request
			if q == nil || q.Lane != lane || !opened(q) {
				continue
			}
			if first < 0 || e.At < first && e.At+q.Lag+q.Took > first {
				open++
			}
		}
		e := end{good: float64(open)}
		if first < 0 {
			return e, regexp.MustCompile(pattern), nil
		}
		how := "with " + string(cause)
		if cause == event.OurCancel {
			how = "by waiting in vain"
		}
		e.bad = e.good + 1
		e.client = fmt.Sprintf("new websockets fail, first %s; in all %s wait in vain, and of the others %s", how, number(float64(hung), false), failures(r, func(e event.Event) bool { return e.Request.Lane == lane }))
		return e, regexp.MustCompile(pattern), nil
	}
}

// opening is how long a websocket may take until its first message.
const opening = 2 * time.Second

// opened reports whether a websocket was opened, or had only just started when the run ended.
func opened(q *event.Request) bool {
	if q.Cause == event.OurCancel {
		return q.Messages > 0 || q.Took < opening
	}
	return q.Cause == ""
}
