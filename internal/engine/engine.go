// Package engine finds the machine's container engine, Docker or Podman, for the driver container
// and the doctor. Its one rule: its errors say what to do.
package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// Image is the name that make image gives to the controller's image.
const Image = "localhost/windtunnel-controller:dev"

// Bundled is the label of images that contain the bundled controller.
const Bundled = "dev.windtunnel.controller"

// ErrUnavailable means that no container engine responds. Each caller adds how to name another one.
var ErrUnavailable = errors.New("no container engine responds: install one (apt-get install docker.io) and start it")

// Open connects to the engine that testcontainers finds: from DOCKER_HOST, from Docker's context,
// or at the usual sockets.
func Open(ctx context.Context) (*testcontainers.DockerProvider, error) {
	quiet()
	provider, err := connect(ctx, "host")
	if errdefs.IsNotFound(err) {
		provider, err = connect(ctx, "podman")
	}
	if err != nil {
		return nil, fmt.Errorf("%w, or set DOCKER_HOST to its address (Podman: systemctl start podman.socket; DOCKER_HOST=unix:///run/podman/podman.sock): %w", ErrUnavailable, err)
	}
	return provider, nil
}

// connect connects to the engine and makes an existing network the default. Otherwise
// testcontainers would create a bridge, which some engines cannot. Our containers use the host's
// network: Docker lists it as a network, Podman does not.
func connect(ctx context.Context, network string) (*testcontainers.DockerProvider, error) {
	provider, err := testcontainers.NewDockerProvider(
		testcontainers.WithLogger(log.NewNoopLogger()), testcontainers.WithDefaultBridgeNetwork(network))
	if err != nil {
		return nil, err
	}
	if _, err := provider.Client().NetworkInspect(ctx, network, client.NetworkInspectOptions{}); err != nil {
		provider.Close()
		return nil, err
	}
	return provider, nil
}

// quiet disables Ryuk, a container that testcontainers would pull and start to remove ours: the
// driver removes them itself. A value that the user has set is kept.
var quiet = sync.OnceFunc(func() {
	const ryuk = "TESTCONTAINERS_RYUK_DISABLED"
	if _, set := os.LookupEnv(ryuk); !set {
		os.Setenv(ryuk, "true")
	}
	log.SetDefault(log.NewNoopLogger())
})
