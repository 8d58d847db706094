package kindcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/engine"
)

// Image is a container image of the engine.
type Image struct {
	Name   string
	ID     string
	Cmd    []string
	Labels map[string]string
}

// FindImage returns an image of the engine by its name. It needs no cluster.
func FindImage(ctx context.Context, name string) (Image, error) {
	program, _, err := connect(ctx)
	if err != nil {
		return Image{}, err
	}
	return inspect(ctx, program, name)
}

// inspect asks the program of an engine about an image.
func inspect(ctx context.Context, program, name string) (Image, error) {
	out, err := command.New(ctx, program, "image", "inspect", name).Output()
	if err != nil {
		return Image{}, engine.Missing(name)
	}
	var found []struct {
		ID     string `json:"Id"`
		Config struct {
			Entrypoint, Cmd []string
			Labels          map[string]string
		}
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return Image{}, fmt.Errorf("inspect image %s: %w", name, err)
	}
	if len(found) != 1 {
		return Image{}, fmt.Errorf("inspect image %s: %s returned %d images", name, program, len(found))
	}
	if len(found[0].Config.Entrypoint)+len(found[0].Config.Cmd) == 0 {
		return Image{}, fmt.Errorf("image %s: %w", name, engine.ErrNoCommand)
	}
	return Image{name, found[0].ID, found[0].Config.Cmd, found[0].Config.Labels}, nil
}

// Load copies an image from the engine to all nodes that do not have it.
func (c *Cluster) Load(ctx context.Context, name string) error {
	image, err := inspect(ctx, c.engine, name)
	if err != nil {
		return err
	}
	var group errgroup.Group
	for _, node := range c.Nodes {
		group.Go(func() error {
			if has, err := nodeutils.ImageID(node.node, name); err == nil && has == image.ID {
				return nil
			}
			if err := c.load(ctx, node, name); err != nil {
				return fmt.Errorf("load %s into node %s: %w", name, node.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (c *Cluster) load(ctx context.Context, node Node, image string) error {
	archive, input := io.Pipe()
	save := command.New(ctx, c.engine, "save", image)
	save.Stdout = input
	saved := make(chan error, 1)
	go func() {
		err := save.Run()
		input.CloseWithError(err) // nil means the end of the archive
		saved <- err
	}()
	err := nodeutils.LoadImageArchive(node.node, archive)
	archive.Close()
	return errors.Join(err, <-saved)
}
