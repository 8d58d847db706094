// Command windtunnel measures how changes of a cluster affect the clients of an ingress controller,
// on a real nginx. Its one rule: a command parses flags, calls a package, prints, and maps the
// outcome to an exit code (exit.go). Each command has its own file; the other files contain code
// that several commands share.
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

func main() {
	ctx, stop := untilSignal()
	defer stop()
	logTo(os.Stderr)
	os.Exit(Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// untilSignal returns a context that ends when the process gets a signal with which a terminal, a
// shell or a CI system stops a process. A signal that was ignored at startup (nohup) stays ignored.
func untilSignal() (ctx context.Context, stop context.CancelFunc) {
	var asked []os.Signal
	for _, one := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(one) {
			asked = append(asked, one)
		}
	}
	return signal.NotifyContext(context.Background(), asked...)
}

// Main runs the command with the given arguments and streams. It returns the exit code.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return mainWith(ctx, args, os.Stdin, stdout, stderr)
}

func mainWith(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(input{ctx, stdin})
	root.SetOut(stdout)
	root.SetErr(stderr)

	err := root.ExecuteContext(ctx)
	if err != nil && !errors.As(err, new(outcomeError)) {
		fmt.Fprintln(stderr, "windtunnel:", err)
	}
	return codeOf(ctx, err)
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "windtunnel",
		Short:         "A wind tunnel for ingress-nginx: what does a change cost its clients?",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version.Of().String(),
	}
	root.SetFlagErrorFunc(explainFlag)
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.AddCommand(runCommand(), endsAtOnce(reportCommand()), verifyCommand(), endsAtOnce(compareCommand()), abCommand(), sweepCommand(), historyCommand(), migrateCommand(), regressCommand(), endsAtOnce(predictCommand()), endsAtOnce(calibrateCommand()), recordCommand(), observeCommand(), observeInsideCommand(), churnCommand(), replayCommand(), apiserverCommand(), agentCommand(), backendCommand(), endsAtOnce(explainCommand()), corpusCommand(), templateCommand(), luaCommand(), caseCommand(), adapterCommand(), doctorCommand())
	root.AddCommand(listCommand(), endsAtOnce(validateCommand()), versionCommand())
	root.InitDefaultCompletionCmd()
	needSubcommands(root.Commands())
	return root
}
