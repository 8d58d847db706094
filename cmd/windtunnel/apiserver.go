package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/sim/kubeapi"
)

func apiserverCommand() *cobra.Command {
	var options kubeapi.Options
	command := &cobra.Command{
		Use:   "apiserver",
		Short: "Run the simulated Kubernetes API server alone, until interrupted",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if options.Dir == "" {
				dir, err := os.MkdirTemp("", "windtunnel-apiserver-")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				options.Dir = dir
			}
			server, err := kubeapi.Start(options)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "export KUBECONFIG=%s\n", server.Kubeconfig())
			<-cmd.Context().Done()

			holds := server.Holds()
			for _, resource := range slices.Sorted(maps.Keys(holds)) {
				if holds[resource] > 0 {
					fmt.Fprintf(out, "%8d %s\n", holds[resource], resource)
				}
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), 5*time.Second)
			defer cancel()
			return server.Close(ctx)
		},
	}
	command.Flags().StringVar(&options.HTTP, "http", "127.0.0.1:0", "address to serve HTTP on; empty for none")
	command.Flags().StringVar(&options.HTTPS, "https", "", "address to serve HTTPS on; empty for none")
	command.Flags().StringVar((*string)(&options.Auth), "auth", string(kubeapi.AuthTLS), "who must show the token or a client certificate: tls (those over HTTPS), all, or none")
	command.Flags().StringVar(&options.Token, "token", "", "bearer token to ask for, which listening beyond loopback needs (default: one is made)")
	command.Flags().StringVar(&options.Dir, "dir", "", "directory for the kubeconfig and the CA (default: a temporary one, removed at the end)")
	return command
}
