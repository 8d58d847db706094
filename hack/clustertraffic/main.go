// Command clustertraffic creates the cluster of hack/cluster-traffic, and prints the table of its
// results.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/driver/cluster"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// name is the name of the cluster, which is kept between calls.
const name = "traffic"

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "clustertraffic:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: clustertraffic create|delete|table FOLDER")
	}
	switch args[0] {
	case "create":
		return create(ctx, args[1])
	case "delete":
		return kindcluster.Forget(ctx, name)
	case "table":
		return table(args[1])
	}
	return fmt.Errorf("no such command: %s", args[0])
}

// create makes a cluster of three nodes with both images, and writes its kubeconfig.
func create(ctx context.Context, folder string) error {
	made, err := kindcluster.Create(ctx, 0, kindcluster.Settings{Image: os.Getenv("KIND_IMAGE"), Workers: 2, Keep: name})
	if err != nil {
		return err
	}
	for _, image := range []string{engine.Image, cluster.HarnessImage} {
		if err := made.Load(ctx, image); err != nil {
			return err
		}
	}
	return errors.Join(os.WriteFile(filepath.Join(folder, "kubeconfig"), []byte(made.Kubeconfig()), 0o600), made.Delete())
}

// table prints the results of the runs.
func table(runs string) error {
	same, err := read(filepath.Join(runs, "same", "*"))
	if err != nil {
		return err
	}
	fmt.Print("# Load from several pods\n\n`make cluster-traffic` makes these tables. The machine is described in environment.txt.\n\n" +
		"The same scenario and seed, with its requests from 1, 2 and 4 pods. \"Same requests\" compares the\n" +
		"lane, the host, the method and the time since the first request of each request with those of the\n" +
		"first row, as far as both rounds last. Times may differ by the bounds of the clocks and 1 ms.\n\n" +
		"| traffic pods | valid | sent | same requests | failed | latency p50 | p99 | lag p99 | last convergence p50 | p90 | largest clock bound |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range same {
		agrees, err := r.sameRequests(same[0])
		if err != nil {
			return err
		}
		s := r.subject
		fmt.Printf("| %d | %t | %d | %s | %d | %v | %v | %v | %v | %v | %v |\n", r.pods, s.Valid, s.Requests.Sent, agrees, s.Requests.Failed,
			ms(s.Requests.Latency.P50), ms(s.Requests.Latency.P99), ms(s.Requests.Lag.P99), ms(s.Converge.Last.P50), ms(s.Converge.Last.P90), r.bound())
	}
	fmt.Print("\nA rising rate. A run is void if its generators could not keep up.\n\n" +
		"| rate | traffic pods | valid | sent/s | missed | latency p99 | lag p99 |\n|---|---|---|---|---|---|---|\n")
	rates, err := read(filepath.Join(runs, "rate", "*", "*"))
	if err != nil {
		return err
	}
	for _, r := range rates {
		s := r.subject
		fmt.Printf("| %d | %d | %t | %.0f | %d | %v | %v |\n", r.rate, r.pods, s.Valid,
			float64(s.Requests.Sent)/s.Measured.Seconds(), s.Requests.Missed, ms(s.Requests.Latency.P99), ms(s.Requests.Lag.P99))
	}
	return nil
}

func ms(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// result is the result of one run.
type result struct {
	folder     string
	rate, pods int
	subject    measure.Subject
}

// read reads the results of folders, in the order of rates and numbers of pods.
func read(pattern string) ([]result, error) {
	folders, err := filepath.Glob(pattern)
	if err != nil || len(folders) == 0 {
		return nil, errors.Join(err, fmt.Errorf("no runs at %s", pattern))
	}
	var all []result
	for _, folder := range folders {
		measured, err := subjectOf(filepath.Join(folder, "result.json"))
		if err != nil {
			return nil, err
		}
		one := result{folder: folder, subject: measured}
		one.pods, _ = strconv.Atoi(filepath.Base(folder))
		one.rate, _ = strconv.Atoi(filepath.Base(filepath.Dir(folder))) // 0 for folders without a rate
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b result) int { return cmp.Or(a.rate-b.rate, a.pods-b.pods) })
	return all, nil
}

// subjectOf reads the only subject of a result.
func subjectOf(file string) (measure.Subject, error) {
	in, err := os.Open(file)
	if err != nil {
		return measure.Subject{}, err
	}
	defer in.Close()
	r, _, err := report.ReadJSON(in)
	if err != nil || len(r.Subjects) != 1 {
		return measure.Subject{}, errors.Join(err, fmt.Errorf("%s has %d subjects, want 1", file, len(r.Subjects)))
	}
	return r.Subjects[0], nil
}

// bound returns the largest uncertainty of the traffic pods' clocks.
func (r result) bound() time.Duration {
	bound := time.Duration(0)
	for _, c := range r.subject.Clocks {
		bound = max(bound, c.Bound)
	}
	return bound.Round(10 * time.Microsecond)
}

// request contains the properties of a request that the seed determines, except its time.
type request struct{ lane, host, method string }

// requests returns the times of the requests in the first round, in order and relative to the first
// request, and the time from the first request to the last.
func (r result) requests() (all map[request][]time.Duration, length time.Duration, err error) {
	file, err := os.Open(filepath.Join(r.folder, "events.jsonl"))
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	var times []event.Event
	for e, err := range event.Read(file) {
		if err != nil {
			return nil, 0, err
		}
		if e.Request != nil {
			times = append(times, e)
		}
	}
	if len(times) == 0 {
		return nil, 0, fmt.Errorf("%s: no requests", r.folder)
	}
	slices.SortFunc(times, func(a, b event.Event) int { return cmp.Compare(a.At, b.At) })
	first, last := times[0].At, times[len(times)-1].At
	all = map[request][]time.Duration{}
	for _, e := range times {
		one := request{e.Request.Lane, e.Request.Host, e.Request.Method}
		all[one] = append(all[one], e.At-first)
	}
	return all, last - first, nil
}

// sameRequests compares the requests of two runs up to the end of the shorter one. Two times are
// equal if they differ by no more than the uncertainty of the clocks.
func (r result) sameRequests(other result) (string, error) {
	ours, length, err := r.requests()
	if err != nil {
		return "", err
	}
	theirs, also, err := other.requests()
	if err != nil {
		return "", err
	}
	end, tolerance := min(length, also)-100*time.Millisecond, r.bound()+other.bound()+time.Millisecond
	compared, differ := 0, 0
	for one := range ours {
		n, d := compareTimes(ours[one], theirs[one], end, tolerance)
		compared, differ = compared+n, differ+d
	}
	for one, times := range theirs {
		if ours[one] == nil {
			n, d := compareTimes(nil, times, end, tolerance)
			compared, differ = compared+n, differ+d
		}
	}
	if differ > 0 {
		return fmt.Sprintf("%d of %d differ", differ, compared), nil
	}
	return "all " + strconv.Itoa(compared), nil
}

// compareTimes returns the number of times up to end, and how many of them differ or are in one list only.
func compareTimes(a, b []time.Duration, end, tolerance time.Duration) (compared, differ int) {
	for i := range max(len(a), len(b)) {
		one, other := at(a, i), at(b, i)
		if min(one, other) > end {
			break
		}
		compared++
		if (one - other).Abs() > tolerance {
			differ++
		}
	}
	return compared, differ
}

// at returns an element, or the latest possible time if there is none.
func at(times []time.Duration, i int) time.Duration {
	if i < len(times) {
		return times[i]
	}
	return math.MaxInt64
}
