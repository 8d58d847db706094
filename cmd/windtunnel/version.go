package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/version"
)

func versionCommand() *cobra.Command {
	var format format
	command := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit and the Go version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			build := version.Of()
			if format.json() {
				return printJSON(cmd.OutOrStdout(), build)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "windtunnel", build)
			return err
		},
	}
	format.add(command)
	return command
}
