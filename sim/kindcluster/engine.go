package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"

	"windtunnel.dev/internal/command"
)

// ErrNoEngine means that no container engine answers. Its text includes what to do.
var ErrNoEngine = errors.New("no container engine answers: install one (apt-get install docker.io), start it, and try again; set ENGINE=podman to use podman instead of docker")

// connect finds the engine that ENGINE names, by default docker.
func connect(ctx context.Context) (string, *cluster.Provider, error) {
	engine := os.Getenv("ENGINE")
	if engine == "" {
		engine = "docker"
	}
	option := cluster.ProviderWithDocker()
	if engine == "podman" {
		option = cluster.ProviderWithPodman()
	}
	asking, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if out, err := command.New(asking, engine, "info").CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("%w (%s info: %w: %s)", ErrNoEngine, engine, err, lastLine(out))
	}
	return engine, cluster.NewProvider(option), nil
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
