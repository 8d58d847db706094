// Command nginx-ingress-controller is a reimplementation of ingress-nginx: it accepts
// ingress-nginx's flags, watches the ingresses of a cluster and configures one nginx accordingly.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"windtunnel.dev/controller"
)

// Exit codes. Misuse is an error that the user can fix: flags, ports, files.
const (
	exitFailure = 1
	exitMisuse  = 2
)

func main() {
	// nginx's workers must be able to read our files, regardless of the inherited umask.
	syscall.Umask(0o022)
	os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

func run(args []string, env func(string) string, stdout, stderr io.Writer) int {
	f, err := parseFlags(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintf(stdout, "Usage: nginx-ingress-controller [flags]\n\n%s", f.usage())
		return 0
	}
	if err != nil {
		return complain(stderr, exitMisuse, fmt.Errorf("%w; see nginx-ingress-controller --help", err))
	}
	if f.version {
		fmt.Fprintln(stdout, banner())
		return 0
	}
	ctx, hurry, stop := signals()
	defer stop()
	config, err := f.config(ctx, env, stderr)
	if ctx.Err() != nil {
		return 0 // terminated before the start was complete
	}
	if err != nil {
		return complain(stderr, exitMisuse, err)
	}
	if err := controller.Run(ctx, hurry, config); err != nil {
		return complain(stderr, exitFailure, err)
	}
	return 0
}

// complain writes an error as one line.
func complain(stderr io.Writer, code int, err error) int {
	fmt.Fprintln(stderr, "nginx-ingress-controller: "+strings.Join(strings.Fields(err.Error()), " "))
	return code
}

// signals returns two contexts: ctx ends with the first SIGTERM or SIGINT, hurry with the second,
// with which the user stops waiting for nginx's remaining requests.
func signals() (ctx, hurry context.Context, stop func()) {
	received := make(chan os.Signal, 2)
	signal.Notify(received, syscall.SIGTERM, syscall.SIGINT)
	ctx, first := context.WithCancel(context.Background())
	hurry, second := context.WithCancel(context.Background())
	go func() {
		<-received
		first()
		<-received
		second()
	}()
	return ctx, hurry, func() { signal.Stop(received) }
}
