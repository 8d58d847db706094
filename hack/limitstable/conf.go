package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/sim/report"
)

// reload is the cost of the reloads of a run: test and first are medians over its syncs.
type reload struct {
	hosts       float64
	test, first float64 // seconds: nginx -t, and from the signal to the first new worker
	memory      float64 // bytes, peak of all processes of nginx
	n           int
}

// reloadOf returns the cost of reloads in a run of a sweep over the number of hosts.
func reloadOf(r run) (reload, error) {
	hosts, err := strconv.ParseFloat(r.value, 64)
	if err != nil {
		return reload{}, fmt.Errorf("value %s: %w", r.value, err)
	}
	var tests, firsts []time.Duration
	for _, e := range r.events {
		if e.Sync != nil && e.Sync.Reload && e.Sync.Phases != nil && e.Sync.Error == "" {
			tests, firsts = append(tests, e.Sync.Phases.Test), append(firsts, e.Sync.Phases.FirstWorker)
		}
	}
	if len(tests) == 0 {
		return reload{}, fmt.Errorf("value %s: no sync with a reload", r.value)
	}
	return reload{hosts: hosts, test: median(tests), first: median(firsts), memory: float64(r.result.Memory.PeakRSS), n: len(tests)}, nil
}

// tested returns the finding about the time of nginx -t, the wait for new workers, and the memory.
func tested(runs []run) (finding, error) {
	bound := apply.WorkerTimeout
	f := finding{
		standard: fmt.Sprintf("`nginx -t`: no bound; new workers: %s", report.Seconds(bound.Seconds())),
		client:   "none: nginx keeps the old configuration", said: none,
	}
	var hosts, tests, firsts, memory []float64
	for _, r := range runs {
		cost, err := reloadOf(r)
		if err != nil {
			return f, err
		}
		hosts, tests, firsts, memory = append(hosts, cost.hosts), append(tests, cost.test), append(firsts, cost.first), append(memory, cost.memory)
		f.points = append(f.points, point{
			setting: number(cost.hosts, false) + " hosts", outcome: r.outcome, bad: none,
			good: fmt.Sprintf("`nginx -t` %s, new workers after %s, %s of memory (median of %d reloads, peak)", report.Seconds(cost.test), report.Seconds(cost.first), report.Bytes(cost.memory), cost.n),
		})
	}
	last := len(hosts) - 1
	f.ends = fmt.Sprintf("not reached; %s hosts: `nginx -t` %s, new workers after %s", number(hosts[last], false), report.Seconds(tests[last]), report.Seconds(firsts[last]))
	if _, slope, ok := fit(hosts, tests); ok {
		_, bytes, _ := fit(hosts, memory)
		f.ends += fmt.Sprintf("; each host adds %s to `nginx -t` and %s of memory", report.Seconds(slope), report.Bytes(bytes))
	}
	if base, slope, ok := fit(hosts, firsts); ok && slope > 0 {
		f.ends += fmt.Sprintf("; the wait for new workers ends at %s hosts (computed)", number((bound.Seconds()-base)/slope, true))
	}
	return f, nil
}

// hashes match the sizes of nginx's hash table of server names in nginx.conf.
var (
	maxSize    = regexp.MustCompile(`(?m)^\s*server_names_hash_max_size (\d+);`)
	bucketSize = regexp.MustCompile(`(?m)^\s*server_names_hash_bucket_size (\d+);`)
	hashErrors = regexp.MustCompile(`could not build (optimal )?server_names_hash`)
)

// hashed returns the finding about nginx's hash table of server names.
func hashed(runs []run) (finding, error) {
	f := finding{
		standard: fmt.Sprintf("%d, %d", defaults.ServerNameHashMaxSize, defaults.ServerNameHashBucketSize),
		client:   none, said: none, ends: "not reached",
	}
	for _, r := range runs {
		conf, err := os.ReadFile(filepath.Join(r.dir, "nginx.conf"))
		if err != nil {
			return f, err
		}
		size, bucket := maxSize.FindSubmatch(conf), bucketSize.FindSubmatch(conf)
		if size == nil || bucket == nil {
			return f, fmt.Errorf("value %s: nginx.conf does not set the sizes of server_names_hash", r.value)
		}
		said, err := r.said(hashErrors)
		if err != nil {
			return f, err
		}
		p := point{setting: r.value, good: fmt.Sprintf("hash_max_size %s, hash_bucket_size %s", size[1], bucket[1]), bad: none, outcome: r.outcome}
		if said != "" {
			f.ends, f.said, p.bad = r.value, said, said
		}
		f.points = append(f.points, p)
		if said == "" && f.said == none {
			f.ends = fmt.Sprintf("not reached; the controller sets %s and %s for %s", size[1], bucket[1], r.value)
		}
	}
	return f, nil
}

// denied matches the API server's error when the webhook denies an ingress.
var denied = regexp.MustCompile(`admission denied`)

// reviewed returns the finding about the number of paths of an ingress: the limit is between the
// runs whose ingresses the webhook allows and those whose ingresses it denies.
func reviewed(runs []run) (finding, error) {
	f := finding{standard: "fixed", client: none, said: none}
	var most, least float64 // allowed and denied
	for _, r := range runs {
		paths, err := pathsOf(r)
		if err != nil {
			return f, err
		}
		p := point{setting: number(paths, false) + " paths", good: number(paths, false), bad: none, outcome: r.outcome}
		refused := ""
		for _, one := range r.events {
			if one.Written != nil && one.Written.Error != "" && refused == "" {
				refused = one.Written.Error
			}
		}
		switch {
		case refused == "":
			most = max(most, paths)
		case least == 0 || paths < least:
			least = paths
			f.client = "the API server refuses the write: " + code(shorten(refused))
			if f.said, err = r.said(denied); err != nil {
				return f, err
			}
		}
		if refused != "" {
			p.good, p.bad = none, number(paths, false)
		}
		f.points = append(f.points, p)
	}
	f.ends = fmt.Sprintf("not reached with %s paths", number(most, false))
	if least > 0 {
		f.ends = fmt.Sprintf("%s paths; %s are refused", number(most, false), number(least, false))
	}
	return f, nil
}

// pathsOf returns the number of paths of each new ingress of a run: the further ones, and /.
func pathsOf(r run) (float64, error) {
	further, err := strconv.ParseFloat(r.value, 64)
	if err != nil {
		return 0, fmt.Errorf("value %s: %w", r.value, err)
	}
	return further + 1, nil
}

// reviewTime returns the finding about the time of a review, by the number of paths.
func reviewTime(runs []run) (finding, error) {
	f := finding{standard: report.Seconds(webhookTimeout.Seconds()), ends: "not reached", client: none, said: none}
	var paths, times []float64
	for _, r := range runs {
		n, err := pathsOf(r)
		if err != nil {
			return f, err
		}
		var took []time.Duration
		for _, e := range r.events {
			if e.Review != nil && e.Review.Error == "" && e.Review.Allowed {
				took = append(took, e.Review.Took)
			}
			if e.Review != nil && e.Review.Error != "" && f.client == none {
				f.client = "the API server refuses the write: " + code(shorten(e.Review.Error))
			}
		}
		p := point{setting: number(n, false) + " paths", good: "no review is allowed", bad: none, outcome: r.outcome}
		if len(took) > 0 {
			paths, times = append(paths, n), append(times, median(took))
			p.good = fmt.Sprintf("a review takes %s (median of %d)", report.Seconds(median(took)), len(took))
		}
		f.points = append(f.points, p)
	}
	if len(paths) == 0 {
		return f, nil
	}
	last := len(paths) - 1
	f.ends = fmt.Sprintf("not reached; a review of %s paths takes %s", number(paths[last], false), report.Seconds(times[last]))
	if base, slope, ok := fit(paths, times); ok && slope > 0 {
		f.ends += fmt.Sprintf("; %s paths take as long as the default (computed)", number((webhookTimeout.Seconds()-base)/slope, true))
	}
	return f, nil
}
