package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// ours begins the names of the images that make image builds.
const ours = "localhost/windtunnel"

// ErrNoCommand means that an image does not say which program it runs.
var ErrNoCommand = errors.New("it has neither ENTRYPOINT nor CMD, so there is no controller to run: name the image of a controller")

// Has inspects an image. Its error is that of Missing if the engine does not have the image, and
// ErrNoCommand if the image does not say what it runs.
func Has(ctx context.Context, api client.APIClient, image string) (client.ImageInspectResult, error) {
	found, err := api.ImageInspect(ctx, image)
	if errdefs.IsNotFound(err) {
		return found, Missing(image)
	}
	if err != nil {
		return found, fmt.Errorf("looking for image %s: %w", image, err)
	}
	if found.Config == nil || len(found.Config.Entrypoint)+len(found.Config.Cmd) == 0 {
		return found, fmt.Errorf("image %s: %w", image, ErrNoCommand)
	}
	return found, nil
}

// Missing returns an error about an image that the engine does not have. It says how to get the image:
// our own are built, others are pulled or loaded.
func Missing(image string) error {
	if strings.HasPrefix(image, ours) {
		return fmt.Errorf("the container engine has no image %s: build it (make image), or name another (--image)", image)
	}
	return fmt.Errorf("the container engine has no image %s: pull it (docker pull %[1]s), or load its file (docker load -i FILE)", image)
}
