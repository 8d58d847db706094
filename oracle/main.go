// Command oracle sends the same requests to the simulated API server and to a real kube-apiserver
// with etcd, and compares the responses. It checks the claim of sim/kubeapi that clients cannot
// distinguish the two. Its one rule: a difference is either fixed or listed in differences.yaml
// with a reason; any other difference fails the run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

type options struct {
	bin, ours, stories, allowed, report string
	seed                                uint64
	sessions, length                    int
	managedFields                       bool
	bench                               time.Duration
	echo                                string
}

func main() {
	var o options
	flag.StringVar(&o.bin, "bin", "bin", "folder with the real etcd and kube-apiserver; ours: compare the simulated server with itself")
	flag.StringVar(&o.ours, "ours", "bin/windtunnel", "path of the windtunnel command, whose API server -bench measures")
	flag.StringVar(&o.stories, "stories", "testdata", "folder with the stories")
	flag.StringVar(&o.allowed, "differences", "differences.yaml", "file with the allowed differences and their reasons")
	flag.StringVar(&o.report, "report", "", "file for the report, in Markdown")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the random stories")
	flag.IntVar(&o.sessions, "random", 200, "number of random stories")
	flag.IntVar(&o.length, "length", 30, "number of requests in a random story")
	flag.BoolVar(&o.managedFields, "managed-fields", true, "also compare managedFields")
	flag.DurationVar(&o.bench, "bench", 0, "do not compare, but measure updates for this long per turn")
	flag.StringVar(&o.echo, "echo", "", "do not compare, but serve an echo at this address; -bench starts it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func (o options) run(ctx context.Context) error {
	if o.echo != "" {
		return serveEcho(o.echo)
	}
	real, stopReal, err := o.startOther(ctx)
	if err != nil {
		return err
	}
	defer stopReal()
	if o.bench > 0 {
		return o.measure(ctx, real)
	}
	ours, stopOurs, err := startOurs(realVersion)
	if err != nil {
		return err
	}
	defer stopOurs()
	return o.compare(ctx, ours, real)
}

func (o options) startOther(ctx context.Context) (*server, func(), error) {
	if o.bin == "ours" {
		return startOurs(realVersion)
	}
	dir, err := os.MkdirTemp("", "oracle-")
	if err != nil {
		return nil, nil, err
	}
	s, stop, err := startReal(ctx, o.bin, dir)
	if err != nil {
		return nil, nil, err
	}
	return s, func() { stop(); os.RemoveAll(dir) }, nil
}

// measure runs the benchmark. The simulated server runs in its own process, as the real one does.
func (o options) measure(ctx context.Context, real *server) error {
	if o.bin == "ours" {
		return errors.New("-bench compares with a real server; set -bin to its folder")
	}
	dir, err := os.MkdirTemp("", "oracle-ours-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, stop, err := startAlone(ctx, o.ours, dir)
	if err != nil {
		return err
	}
	defer stop()
	echo, stopEcho, err := startEcho(ctx, dir)
	if err != nil {
		return err
	}
	defer stopEcho()
	plain := ours[0]
	return bench(ctx, os.Stdout, o.bench, []contender{
		{plain, true}, {ours[1], true}, {real, true}, {echo, false}, {plain, false}, {real, false},
	})
}

func (o options) compare(ctx context.Context, ours, real *server) error {
	stories, err := readStories(os.DirFS(o.stories))
	if err != nil {
		return err
	}
	allowances, err := readAllowances(o.allowed)
	if err != nil {
		return err
	}
	for i := range o.sessions {
		stories = append(stories, generate(o.seed+uint64(i), o.length))
	}
	hook := startHook()
	defer hook.close()
	r := &replayer{hook: hook, ours: ours, real: real, managedFields: o.managedFields, findings: &findings{allowances: allowances}}
	var outcomes []outcome
	for _, s := range stories {
		out, err := r.play(ctx, s)
		if err != nil {
			return err
		}
		outcomes = append(outcomes, out)
	}
	page := reportOf(o, outcomes, r.findings)
	fmt.Print(page)
	if o.report != "" {
		if err := os.MkdirAll(filepath.Dir(o.report), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(o.report, []byte(page), 0o644); err != nil {
			return err
		}
	}
	if n := len(r.findings.unlisted); n > 0 {
		return fmt.Errorf("%d differences are neither fixed nor listed in %s", n, o.allowed)
	}
	if len(outcomes) == 0 {
		return errors.New("no stories")
	}
	return nil
}
