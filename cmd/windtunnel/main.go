// Command windtunnel measures what changes of a cluster cost the clients of an
// ingress controller, on a real nginx. One file a command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/version"
)

// The exit codes, the same for every command.
const (
	exitOK       = 0
	exitFailed   = 1   // the subject did not do what was expected
	exitBadInput = 2   // the command could not do its work with what it was given
	exitVoid     = 3   // the run says nothing: the machine or the generator was too slow
	exitSkipped  = 4   // the driver cannot do what the scenario asks for
	exitCut      = 130 // interrupted, as shells count it
)

func main() {
	ctx, stop := untilSignal()
	defer stop()
	os.Exit(Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// untilSignal is done after a signal with which a terminal, a shell or a CI system asks
// a process to end. A signal that was ignored at startup (nohup) stays ignored.
func untilSignal() (ctx context.Context, stop context.CancelFunc) {
	var asked []os.Signal
	for _, one := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(one) {
			asked = append(asked, one)
		}
	}
	return signal.NotifyContext(context.Background(), asked...)
}

// verdict is the error of a command that did its work and has bad news: it has
// been told already.
type verdict int

func (v verdict) Error() string { return fmt.Sprintf("exit code %d", int(v)) }

// Main is the command with its surroundings as arguments. It returns the exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)

	err := root.ExecuteContext(ctx)
	var code verdict
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	default:
		fmt.Fprintln(stderr, "windtunnel:", err)
		return exitBadInput
	}
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "windtunnel",
		Short:         "A wind tunnel for ingress-nginx: what does a change cost its clients?",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version.Of().String(),
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(runCommand(), reportCommand(), verifyCommand(), compareCommand(), abCommand(), recordCommand(), churnCommand(), replayCommand(), apiserverCommand(), backendCommand(), explainCommand(), templateCommand(), doctorCommand())
	root.AddCommand(listCommand(), validateCommand(), versionCommand())
	return root
}
