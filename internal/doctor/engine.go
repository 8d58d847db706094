package doctor

import (
	"context"

	"github.com/moby/moby/client"

	"windtunnel.dev/internal/engine"
)

// examineEngine checks for a container engine, and for the controller's image in it.
func examineEngine(ctx context.Context) []Result {
	found := Result{What: "container engine", Without: "the drivers container and kind, and make e2e"}
	image := Result{What: "the controller's image", Found: "not checked: no container engine", Without: "the driver container, unless --image names another"}
	provider, err := engine.Open(ctx)
	if err != nil {
		found.Found = err.Error()
		return []Result{found, image}
	}
	defer provider.Close()
	version, err := provider.Client().ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		found.Found = err.Error()
		return []Result{found, image}
	}
	found.OK, found.Found = true, version.Version+" at "+provider.Client().DaemonHost()
	inspected, err := engine.Has(ctx, provider.Client(), engine.Image)
	if err != nil {
		image.Found = err.Error()
		return []Result{found, image}
	}
	image.OK, image.Found = true, engine.Image
	if revision := inspected.Config.Labels["org.opencontainers.image.revision"]; revision != "" {
		image.Found += " of commit " + revision
	}
	return []Result{found, image}
}
