package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/trial"
	"windtunnel.dev/sim/watch"
	"windtunnel.dev/sim/watch/web"
)

// addServe adds the flag that shows a run in browsers.
func addServe(flags *pflag.FlagSet, address *string) {
	flags.StringVar(address, "serve", "", "show the run in a browser while it runs; the value is the loopback `ADDRESS` of the page")
	flags.Lookup("serve").NoOptDefVal = "127.0.0.1:0"
}

// errEnded is the cause of a run that a user ended in the browser.
var errEnded = errors.New("ended in the browser")

// serve shows a run in browsers and prints the URL. If a user ends the run in the browser, the
// returned context is cancelled. over tells the browsers how the run ended, and stops the server.
func serve(ctx context.Context, r runSpec, run *watch.Run, stderr io.Writer) (watched context.Context, over func(trial.Result), err error) {
	watched, cancel := context.WithCancelCause(ctx)
	server, err := web.Listen(web.Options{
		Address: r.serve, Scenario: r.scenario, Run: run, Dir: r.out, End: func() { cancel(errEnded) },
	})
	if err != nil {
		cancel(nil)
		return nil, nil, fmt.Errorf("--serve=%s: %w", r.serve, err)
	}
	fmt.Fprintln(stderr, "watch the run at", server.URL())
	return watched, func(ended trial.Result) {
		cancel(nil)
		server.Close(resultOf(ended))
	}, nil
}

// resultOf returns the result of a run as its viewers see it.
func resultOf(ended trial.Result) web.Result {
	result := web.Result{Outcome: string(ended.Outcome), Note: ended.Note()}
	if ended.Outcome != judge.NotRun && ended.Outcome != judge.Skipped {
		result.Report = ended.Dir.File(rundir.Page)
	}
	return result
}
