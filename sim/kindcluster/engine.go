package kindcluster

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"

	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/engine"
)

// connect finds the engine that ENGINE names, by default docker. If it does not respond, the error
// is engine.ErrUnavailable.
func connect(ctx context.Context) (string, *cluster.Provider, error) {
	name := os.Getenv("ENGINE")
	if name == "" {
		name = "docker"
	}
	option := cluster.ProviderWithDocker()
	if name == "podman" {
		option = cluster.ProviderWithPodman()
	}
	asking, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if out, err := command.New(asking, name, "info").CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%w, or set ENGINE=podman to use podman instead of docker (%s info: %w: %s)", engine.ErrUnavailable, name, err, lastLine(out))
	}
	return name, cluster.NewProvider(option), nil
}

// Available returns nil if clusters can be created, otherwise an error that describes what is
// missing.
func Available(ctx context.Context) error {
	_, _, err := connect(ctx)
	return err
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// node returns the address, image and first process of a node.
func (c *Cluster) node(ctx context.Context, of nodes.Node) (Node, error) {
	address, _, err := of.IP()
	if err != nil {
		return Node{}, err
	}
	out, err := command.New(ctx, c.engine, "inspect", "--format", "{{.State.Pid}} {{.Config.Image}}", of.String()).Output()
	if err != nil {
		return Node{}, fmt.Errorf("find the processes of node %s: %w", of, err)
	}
	number, image, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil {
		return Node{}, fmt.Errorf("find the processes of node %s: %w", of, err)
	}
	return Node{Name: of.String(), Address: address, Image: image, Init: pid, node: of}, nil
}
