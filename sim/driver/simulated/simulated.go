// Package simulated is the common part of the drivers with a simulated cluster: the Kubernetes API
// in our own process, pods as listeners on 127.0.0.0/8, the objects that a controller needs at its
// start, its health and its log. Its one rule: only the Runtime of a driver knows how a controller
// is started, found and ended.
package simulated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"windtunnel.dev/internal/guard"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/webhook"
)

// Runtime is where the controller of one subject runs.
type Runtime interface {
	// Start starts the controller. Before that it ends the processes that an earlier one left
	// behind. All output of the controller goes to out.
	Start(ctx context.Context, out io.Writer) (Controller, error)
	// Master returns the PID of the master of the workers (adapter.Processes).
	Master() (int, error)
	// Read reads one of the files that are kept after a run. Its path is relative to the root of the
	// controller's files: etc/nginx/nginx.conf.
	Read(ctx context.Context, name string) ([]byte, error)
	// Close removes everything the runtime created. The controller has ended before.
	Close() error
}

// Controller is a started controller.
type Controller interface {
	// PID returns its PID on this machine.
	PID() int
	// Terminate sends SIGTERM, Kill SIGKILL. Both return nil if the controller has already ended.
	Terminate() error
	Kill() error
	// Wait returns when the controller has ended and all its output is written. The error describes
	// how it ended; it is nil for exit code 0.
	Wait() error
}

// podPort is the port that every simulated pod listens on.
const podPort = 8080

// Prepare creates the simulated cluster of a subject. Its ports start at portBase, with ten per
// subject; if portBase is 0, any free ports are used. WithRuntime sets the adapter and the runtime
// later, because they need the cluster.
func Prepare(s subject.Subject, in driver.Options, portBase int) (*Instance, error) {
	if portBase != 0 {
		portBase += 10 * in.Index
	}
	ports, err := choosePorts(portBase)
	if err != nil {
		return nil, err
	}
	streamBase, streamPort := 0, 0
	if len(in.Streams) > 0 {
		streamPort = driver.StreamPort
		if streamBase, err = port.Free(len(in.Streams)); err != nil {
			return nil, err
		}
	}
	block, err := backend.ClaimBlock(podPort)
	if err != nil {
		return nil, err
	}
	keeper, api, err := startAPI(s, in.Log)
	if err != nil {
		block.Release()
		return nil, err
	}
	instance := &Instance{
		Subject: s,
		Options: in,
		Guard:   keeper,
		Root:    keeper.Dir,

		ports:      ports,
		streamBase: streamBase,

		api:   api,
		block: block,
		pods: backend.New(backend.Options{
			Prefix: block.Prefix,
			Port:   podPort,

			StreamPort: streamPort,

			Log:     in.Log,
			Subject: s.Name,
		}),
	}
	if s.Webhook {
		instance.webhook = new(webhook.New(loopback))
	}
	return instance, nil
}

// startAPI creates the root directory of a subject, with its guard, and starts its API server. The
// kubeconfig is in that directory.
func startAPI(s subject.Subject, log *event.Log) (keeper *guard.Guard, api *kubeapi.Server, err error) {
	keeper, err = guard.New("run-" + s.Name)
	if err != nil {
		return nil, nil, fmt.Errorf("create a root directory for nginx: %w", err)
	}
	// If the master is root, nginx's workers run as another user.
	if err = os.Chmod(keeper.Dir, 0o755); err == nil {
		api, err = kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: filepath.Join(keeper.Dir, "kubeapi"), AllowLoopbackEndpoints: true, CreationTimes: true, OnReview: logReviews(s.Name, log)})
	}
	if err != nil {
		return nil, nil, errors.Join(err, keeper.Close())
	}
	return keeper, api, nil
}

// logReviews returns a function that logs what the API server asked a webhook.
func logReviews(name string, log *event.Log) func(kubeapi.Review) {
	return func(r kubeapi.Review) {
		review := event.Review{Webhook: r.Webhook, Took: r.Took, Allowed: r.Allowed}
		if r.Err != nil {
			review.Error = r.Err.Error()
		}
		log.Write(event.Event{At: log.Now(), Subject: name, Review: &review})
	}
}
