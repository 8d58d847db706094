package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/backend/pool"
	"windtunnel.dev/sim/event"
)

// backendOptions contains the flags of backend.
type backendOptions struct {
	name, namespace, service string
	address                  string
	streamPort               int
	drain                    time.Duration
	control, tokenFile       string
}

func backendCommand() *cobra.Command {
	var o backendOptions
	command := &cobra.Command{
		Use:   "backend",
		Short: "Run a simulated pod inside a real pod",
		Long: `Run a simulated pod inside a real pod.

Answers every request with its identity: over HTTP/1, h2c, gRPC and websockets on
--address, and over plain TCP and UDP on --stream-port, like the pods of windtunnel run.
It answers on every path, including /healthz. After SIGTERM, it serves for --drain
longer and completes the requests in progress.
With --control, the harness tells the process which pod to act as, and may change that later;
GET /healthz at that address reports whether it accepts commands. Beyond loopback this
requires a token, from --control-token-file or from ` + pool.TokenVariable + `.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			return o.serve(cmd.Context(), cmd.OutOrStdout())
		},
	}
	host, _ := os.Hostname() // inside a pod, the pod's name
	flags := command.Flags()
	flags.StringVar(&o.name, "name", cmp.Or(os.Getenv("POD_NAME"), host), "the pod's name (default: POD_NAME, or else the host's)")
	flags.StringVar(&o.namespace, "namespace", cmp.Or(os.Getenv("POD_NAMESPACE"), "default"), "the pod's namespace (default: POD_NAMESPACE)")
	flags.StringVar(&o.service, "service", os.Getenv("SERVICE"), "the service that it belongs to (default: SERVICE)")
	flags.StringVar(&o.address, "address", fmt.Sprintf("0.0.0.0:%d", pool.Port), "address to listen on")
	flags.IntVar(&o.streamPort, "stream-port", pool.StreamPort, "port to listen on for plain TCP and UDP; 0: none")
	flags.DurationVar(&o.drain, "drain", 5*time.Second, "how long to keep serving after SIGTERM")
	flags.StringVar(&o.control, "control", "", "address of the control API (default: none)")
	flags.StringVar(&o.tokenFile, "control-token-file", "", "file with the token that the control API requires")
	return command
}

// check returns an error if a flag has no effect, or makes no sense.
func (o backendOptions) check(flags *pflag.FlagSet) error {
	if err := notNegative("drain", o.drain); err != nil {
		return err
	}
	if o.control == "" {
		return refuseUnused(flags, "without --control, there is no control API", "control-token-file")
	}
	return refuseUnused(flags, "with --control, the harness chooses the pod", "name", "namespace")
}

func (o backendOptions) serve(ctx context.Context, out io.Writer) error {
	address, err := netip.ParseAddrPort(o.address)
	if err != nil {
		return fmt.Errorf("--address: %w", err)
	}
	if o.streamPort < 0 || o.streamPort > math.MaxUint16 {
		return fmt.Errorf("--stream-port: %d is not a port: want 1 to %d, or 0 for none", o.streamPort, math.MaxUint16)
	}
	tell := printEvents(out)
	if o.control != "" {
		return o.serveControl(ctx, out, &pool.Server{Address: address, StreamPort: o.streamPort, Tell: tell})
	}
	if o.service == "" {
		return errors.New("neither --service nor SERVICE is set: name the service of the pod")
	}
	if !strings.Contains(o.service, "/") {
		o.service = o.namespace + "/" + o.service
	}
	pod := backend.Single(o.namespace+"/"+o.name, o.service, address, o.streamPort, tell)
	if err := pod.Ready(); err != nil {
		return err
	}
	<-ctx.Done()
	pod.Terminate(o.drain)
	<-pod.Done()
	return nil
}

// serveControl serves the control API and runs the pods that clients request.
func (o backendOptions) serveControl(ctx context.Context, out io.Writer, server *pool.Server) error {
	if o.service != "" {
		return errors.New("--control and --service (or SERVICE) exclude each other: with --control, the harness chooses the pod")
	}
	var err error
	if server.Token, err = o.token(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.control)
	if err != nil {
		return fmt.Errorf("--control: %w", err)
	}
	if at := listener.Addr().(*net.TCPAddr); server.Token == "" && !at.IP.IsLoopback() {
		listener.Close()
		return fmt.Errorf("--control: %v is not a loopback address, so anyone could control this process: set a token with --control-token-file or %s", at, pool.TokenVariable)
	}
	fmt.Fprintln(out, "controlled at", listener.Addr())
	serving := http.Server{Handler: server.Handler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(out, "control: ", 0)}
	failed := make(chan error, 1)
	go func() { failed <- serving.Serve(listener) }()
	select {
	case <-ctx.Done():
		server.End(o.drain)
		return serving.Close()
	case err := <-failed:
		return fmt.Errorf("--control: %w", err)
	}
}

func (o backendOptions) token() (string, error) {
	if o.tokenFile == "" {
		return os.Getenv(pool.TokenVariable), nil
	}
	text, err := os.ReadFile(o.tokenFile)
	if err != nil {
		return "", fmt.Errorf("--control-token-file: %w", err)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return "", fmt.Errorf("--control-token-file: %s is empty", o.tokenFile)
	}
	return strings.TrimSpace(string(text)), nil
}

// printEvents returns a function that prints a line for each pod state and each problem.
func printEvents(out io.Writer) func(event.Event) {
	var mu sync.Mutex
	return func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Pod != nil:
			fmt.Fprintln(out, e.Pod.Name, "of", e.Pod.Service, "is", e.Pod.State, "at", e.Pod.Address)
		case e.Trouble != nil:
			fmt.Fprintln(out, e.Trouble.What+":", strings.TrimSpace(e.Trouble.Detail))
		}
	}
}
