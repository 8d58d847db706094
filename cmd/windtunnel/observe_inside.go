package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/observe"
)

// observeInsideCommand returns the command that the ephemeral container of an observation runs.
func observeInsideCommand() *cobra.Command {
	var length time.Duration
	var controller int
	command := &cobra.Command{
		Use:    observe.InsideCommand,
		Short:  "Print what the processes of a controller and of its nginx do",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := adapters.Find(adapters.Default)
			if err != nil {
				return err
			}
			ctx, stop := context.WithTimeout(cmd.Context(), length)
			defer stop()
			observe.Inside(ctx, cmd.OutOrStdout(), a.Processes, controller)
			return nil
		},
	}
	command.Flags().DurationVar(&length, "for", 24*time.Hour, "how long")
	command.Flags().IntVar(&controller, "controller", 1, "PID of the controller, or of a process above it")
	return command
}
