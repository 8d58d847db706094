// Package adapterstest has ingress controllers that are not nginx, for tests of adapters: small ones,
// with the processes of real ones. A test binary is the controller, by its own arguments. Its one
// rule: a controller here shows what the harness must see, and nothing else.
package adapterstest

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// The first argument of a test binary that is not a test binary.
const (
	single = "stub-single" // the controller answers the requests itself
	forked = "stub-forked" // the controller configures a proxy like haproxy
	master = "-W"          // that proxy, with haproxy's flags
	worker = "stub-worker" // its child, which answers the requests
)

func init() {
	if len(os.Args) > 1 && os.Args[1] == master {
		runtime.LockOSThread() // like haproxy, the master has its children from its first thread
	}
}

// Main runs a controller or proxy if the command line asks for one, and then does not return. TestMain
// must call it first.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	programs := map[string]func(context.Context, []string) error{
		single: runSingle, forked: runForked, master: runMaster, worker: runWorker,
	}
	run, is := programs[os.Args[1]]
	if !is {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx, os.Args[2:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stub:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
