package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
)

// Load gives an image of the engine's to all nodes that do not have it.
func (c *Cluster) Load(ctx context.Context, image string) error {
	out, err := exec.CommandContext(ctx, c.engine, "image", "inspect", "--format", "{{.Id}}", image).Output()
	if err != nil {
		return fmt.Errorf("%s has no image %s: `make image` makes those of this repository", c.engine, image)
	}
	id := strings.TrimSpace(string(out))
	var group errgroup.Group
	for _, node := range c.Nodes {
		group.Go(func() error {
			if has, err := nodeutils.ImageID(node.node, image); err == nil && has == id {
				return nil
			}
			if err := c.load(ctx, node, image); err != nil {
				return fmt.Errorf("loading %s into node %s: %w", image, node.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (c *Cluster) load(ctx context.Context, node Node, image string) error {
	archive, input := io.Pipe()
	save := exec.CommandContext(ctx, c.engine, "save", image)
	save.Stdout = input
	saved := make(chan error, 1)
	go func() {
		err := save.Run()
		input.CloseWithError(err) // nil: the end
		saved <- err
	}()
	err := nodeutils.LoadImageArchive(node.node, archive)
	archive.Close()
	return errors.Join(err, <-saved)
}
