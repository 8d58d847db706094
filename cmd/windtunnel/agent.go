package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/agent"
)

func agentCommand() *cobra.Command {
	listen := "0.0.0.0:" + strconv.Itoa(agent.Port)
	command := &cobra.Command{
		Use:   "agent",
		Short: "Send requests, or observe a controller, inside a pod",
		Long: `Send requests, or observe a controller, inside a pod.

windtunnel run --driver cluster starts agents in the pods of a cluster: traffic pods,
which share the requests of a run, and one beside the controller, which observes its
processes. The harness tells each what to do, by HTTP requests with the token of
` + agent.TokenVariable + `. An agent ends after ` + agent.Lease.String() + ` without a request.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serveAgent(cmd.Context(), listen) },
	}
	command.AddCommand(agentCopyCommand(), agentExecCommand())
	command.Flags().StringVar(&listen, "listen", listen, "address to listen on")
	return command
}

func serveAgent(ctx context.Context, address string) error {
	adapter, err := adapters.Find(adapters.Default)
	if err != nil {
		return err
	}
	server, err := agent.NewServer(os.Getenv(agent.TokenVariable), agent.Observed{
		Processes: adapter.Processes, Controller: agent.Beside, Entry: agent.EntryBeside,
	})
	if err != nil {
		return fmt.Errorf("%w: set %s", err, agent.TokenVariable)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	serving := http.Server{Handler: server.Handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(os.Stderr, "agent: ", 0)}
	failed := make(chan error, 1)
	go func() { failed <- serving.Serve(listener) }()
	silent := make(chan error, 1)
	go func() { silent <- server.AwaitSilence(ctx, agent.Lease) }()
	defer server.End()
	select {
	case err := <-failed:
		return err
	case err := <-silent:
		if err == nil {
			err = fmt.Errorf("no request for %v: the harness has ended", agent.Lease)
		}
		if ctx.Err() != nil {
			err = nil
		}
		return errors.Join(err, serving.Close())
	}
}
