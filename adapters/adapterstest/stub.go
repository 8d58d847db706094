// Package adapterstest provides stubs of ingress controllers other than ingress-nginx, for tests of
// adapters. The stubs are small, but run the same processes as the real controllers. The test
// binary itself acts as a controller if its arguments ask for one. Its one rule: a stub shows what
// the harness must see, and nothing else.
package adapterstest

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

// The first arguments that make a test binary run as a controller or proxy instead of a test.
const (
	single = "stub-single" // the controller answers the requests itself
	forked = "stub-forked" // the controller configures a proxy like haproxy
	master = "-W"          // that proxy, with haproxy's flags
	worker = "stub-worker" // its child, which answers the requests

	controlPlane = "stub-xds" // the controller configures a proxy beside it, as Contour does
)

func init() {
	if len(os.Args) > 1 && os.Args[1] == master {
		runtime.LockOSThread() // like haproxy, the master starts its children from its first thread
	}
}

// Main runs a controller or proxy if the command line asks for one, and then does not return. TestMain
// must call it first.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	named := map[string]func(context.Context, []string) error{
		EnvoyStub: runEnvoy, HAProxyIngressStub: runHAProxyIngress, HAProxyTechStub: runHAProxyTech,
		NGINXGatewayStub: runNGINXGateway, NGINXIncStub: runNGINXInc,
	}
	if run, is := named[filepath.Base(os.Args[0])]; is {
		runAndExit(filepath.Base(os.Args[0]), run, os.Args[1:])
	}
	programs := map[string]func(context.Context, []string) error{
		single: runSingle, forked: runForked, master: runMaster, worker: runWorker, controlPlane: runControlPlane,
	}
	run, is := programs[os.Args[1]]
	if is {
		runAndExit("stub", run, os.Args[2:])
	}
}

func runAndExit(name string, run func(context.Context, []string) error, args []string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx, args)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}
