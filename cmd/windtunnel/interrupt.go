package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// endsAtOnce makes a command and its subcommands end as soon as the context does. It is for commands that
// only compute and write files: their remaining work ends with the process. Commands that start
// something, change a cluster or write several files that belong together watch the context themselves.
func endsAtOnce(command *cobra.Command) *cobra.Command {
	for _, one := range command.Commands() {
		endsAtOnce(one)
	}
	if run := command.RunE; run != nil {
		command.RunE = func(cmd *cobra.Command, args []string) error {
			return untilDone(cmd.Context(), func() error { return run(cmd, args) })
		}
	}
	return command
}

// untilDone returns the error of run or, if the context ends first, the cause of that.
func untilDone(ctx context.Context, run func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// input is the standard input. Its Read returns when the context ends.
type input struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader. It reads into its own buffer, because the underlying read continues
// after the context has ended.
func (i input) Read(into []byte) (n int, err error) {
	buffer := make([]byte, len(into))
	err = untilDone(i.ctx, func() (err error) {
		n, err = i.from.Read(buffer)
		return err
	})
	if i.ctx.Err() != nil {
		return 0, err
	}
	return copy(into, buffer[:n]), err
}
