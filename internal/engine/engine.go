// Package engine finds the machine's container engine. It stands between those
// who need one (the driver container, the doctor) and Docker or Podman, wherever
// they listen. Its one rule: its errors say what to do.
package engine

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// Image is the controller's image, as make image calls it.
const Image = "localhost/windtunnel-controller:dev"

// Bundled is the label by which an image says that it holds the bundled controller.
const Bundled = "dev.windtunnel.controller"

// Open reaches the engine that testcontainers finds: of DOCKER_HOST, of Docker's
// context, or at the usual sockets.
func Open(ctx context.Context) (*testcontainers.DockerProvider, error) {
	quiet()
	provider, err := reach(ctx, "host")
	if errdefs.IsNotFound(err) {
		provider, err = reach(ctx, "podman")
	}
	if err != nil {
		return nil, fmt.Errorf("no container engine answers: install one and start it (apt-get install docker.io), or say in DOCKER_HOST where it listens (Podman: systemctl start podman.socket; DOCKER_HOST=unix:///run/podman/podman.sock): %w", err)
	}
	return provider, nil
}

// reach calls a network the default one, which must be there: then testcontainers
// makes no bridge, which an engine may be unable to. Our containers have the host's
// network, which Docker lists, and Podman does not.
func reach(ctx context.Context, network string) (*testcontainers.DockerProvider, error) {
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

// quiet keeps testcontainers from starting a container of its own that removes
// ours (Ryuk, which must be pulled): the driver does that without. Who sets the
// variable gets what they want.
var quiet = sync.OnceFunc(func() {
	const ryuk = "TESTCONTAINERS_RYUK_DISABLED"
	if _, set := os.LookupEnv(ryuk); !set {
		os.Setenv(ryuk, "true")
	}
	log.SetDefault(log.NewNoopLogger())
})

// Has says whether the engine has an image, and of ours what to do without it.
// Others can be pulled.
func Has(ctx context.Context, api client.APIClient, image string) (client.ImageInspectResult, error) {
	found, err := api.ImageInspect(ctx, image)
	switch {
	case err == nil:
		return found, nil
	case !errdefs.IsNotFound(err):
		return found, fmt.Errorf("looking for image %s: %w", image, err)
	case image == Image:
		return found, fmt.Errorf("image %s is not there: build it (make image), or name another (--image): %w", image, err)
	}
	return found, fmt.Errorf("image %s is not there: docker pull %s: %w", image, image, err)
}
