// Package simulated is what those drivers share whose cluster is simulated: the
// Kubernetes API in our own process, pods as listeners on 127.0.0.0/8, the
// objects that a controller looks for at its start, its health and its log. It
// stands between the driver interface and the places where a controller can
// run beside such a cluster. Its one rule: how a controller is started, found
// and ended is the place's affair alone.
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
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/subject"
)

// Place is where the controller of one subject runs.
type Place interface {
	// Start starts the controller, after the end of what an earlier life left
	// behind. All that the controller writes goes to out.
	Start(ctx context.Context, out io.Writer) (Controller, error)
	// Master is the PID of the nginx master process.
	Master() (int, error)
	// Read reads one of the files that are kept of a run, by its path as the
	// controller has it from nginx's root: etc/nginx/nginx.conf.
	Read(ctx context.Context, name string) ([]byte, error)
	// Close unmakes what the place has made. The controller has ended.
	Close() error
}

// Controller is one that was started.
type Controller interface {
	// PID is its process, as this machine counts.
	PID() int
	// Terminate asks it to end (SIGTERM), Kill does not ask. Both are nil when
	// it has ended already.
	Terminate() error
	Kill() error
	// Wait returns when it has ended and all that it wrote is written; the
	// error says how it ended, nil for exit code 0.
	Wait() error
}

// podPort is the port that every simulated pod listens on.
const podPort = 8080

// Prepare makes the simulated cluster of a subject. Its ports are portBase and
// those after it, ten a subject, or any free ones if it is 0. The place comes
// later, by At, as it wants to know of the cluster.
func Prepare(s subject.Subject, in driver.Room, portBase int) (*Instance, error) {
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
	block, err := claimBlock()
	if err != nil {
		return nil, err
	}
	keeper, api, err := startAPI(s)
	if err != nil {
		block.release()
		return nil, err
	}
	return &Instance{
		Subject: s,
		Room:    in,
		Guard:   keeper,
		Root:    keeper.Dir,

		ports:      ports,
		streamBase: streamBase,

		api:   api,
		block: block,
		pods: backend.New(backend.Options{
			Prefix: block.prefix,
			Port:   podPort,

			StreamPort: streamPort,

			Log:     in.Log,
			Subject: s.Name,
		}),
	}, nil
}

// startAPI makes the root directory of a subject, with its guard, and starts its
// API server, whose kubeconfig is in it.
func startAPI(s subject.Subject) (keeper *guard.Guard, api *kubeapi.Server, err error) {
	keeper, err = guard.New("run-" + s.Name)
	if err != nil {
		return nil, nil, fmt.Errorf("making a root directory for nginx: %w", err)
	}
	// nginx's workers run as another user when the master is root.
	if err = os.Chmod(keeper.Dir, 0o755); err == nil {
		api, err = kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: filepath.Join(keeper.Dir, "kubeapi"), AllowLoopbackEndpoints: true})
	}
	if err != nil {
		return nil, nil, errors.Join(err, keeper.Close())
	}
	return keeper, api, nil
}
