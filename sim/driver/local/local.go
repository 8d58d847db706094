// Package local runs subjects as processes of this machine: the controller and
// nginx as they are, pods as listeners on 127.0.0.0/8, the Kubernetes API
// simulated in our own process. Its one rule: nothing it starts outlives it.
package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/subject"
)

// Driver starts subjects on this machine.
type Driver struct {
	// Bundled is the path of the bundled controller's binary.
	Bundled string
	// PortBase is the first of the ports of the first subject; each further
	// subject starts ten higher. 0: any free ports.
	PortBase int
}

// PodPort is the port that every simulated pod listens on.
const PodPort = 8080

// Name is "local".
func (Driver) Name() string { return "local" }

// Prepare starts an API server and makes room for pods.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Room) (driver.Instance, error) {
	base := 0
	if d.PortBase != 0 {
		base = d.PortBase + 10*in.Index
	}
	ports, err := choosePorts(base)
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
	root, api, err := startAPI(s)
	if err != nil {
		block.release()
		return nil, err
	}
	return &instance{
		driver:  d,
		subject: s,
		room:    in,
		root:    root,
		ports:   ports,

		streamBase: streamBase,

		api:   api,
		block: block,
		pods: backend.New(backend.Options{
			Prefix: block.prefix,
			Port:   PodPort,

			StreamPort: streamPort,

			Log:     in.Log,
			Subject: s.Name,
		}),
	}, nil
}

// startAPI makes the root directory of a subject's nginx and starts its API
// server, whose kubeconfig is in it.
func startAPI(s subject.Subject) (root string, api *kubeapi.Server, err error) {
	root, err = os.MkdirTemp("", "windtunnel-"+s.Name+"-")
	if err != nil {
		return "", nil, fmt.Errorf("making a root directory for nginx: %w", err)
	}
	// nginx's workers run as another user when the master is root.
	if err = os.Chmod(root, 0o755); err == nil {
		api, err = kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: filepath.Join(root, "kubeapi"), AllowLoopbackEndpoints: true})
	}
	if err != nil {
		os.RemoveAll(root)
	}
	return root, api, err
}
