// Package kindcluster creates real Kubernetes clusters in containers on this machine, with kind's
// library, for the driver kind and the end-to-end suite. Its one rule: no cluster outlives the
// process that created it, unless the caller asks to keep it.
package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/tempdir"
)

// Settings are the parameters of a cluster.
type Settings struct {
	// Image is the image of the nodes; "" means the default of this version of kind, which is
	// pulled.
	Image string
	// Kubeadm patches kubeadm's configuration, like kind's kubeadmConfigPatches.
	Kubeadm string
	// Workers is the number of nodes in addition to the control plane. With 0, pods run on the
	// control plane.
	Workers int
	// Keep is a name for the cluster. A cluster with a name is kept, and reused if it exists
	// already. With "", Delete removes the cluster; if this process ends without Delete, the next
	// Create of another process removes it.
	Keep string
}

// Cluster is a running cluster.
type Cluster struct {
	Name   string
	Nodes  []Node // the control plane first
	Reused bool   // it was kept by an earlier run

	keep     string
	claim    *os.File     // locked while this process uses a kept cluster
	config   string       // the kubeconfig
	folder   *tempdir.Dir // for the copy of config that kind requires
	engine   string
	provider *cluster.Provider
}

// readyPatience is the time limit for the nodes of a cluster to become ready.
const readyPatience = 3 * time.Minute

// Create creates cluster number n of this process, or returns the kept cluster with that number.
// Before that it removes the clusters that ended processes have left behind.
func Create(ctx context.Context, n int, s Settings) (*Cluster, error) {
	if s.Keep != "" && !keepable.MatchString(s.Keep) {
		return nil, fmt.Errorf("a cluster cannot be kept as %q: use lower-case letters and digits, with a letter first", s.Keep)
	}
	engine, provider, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := sweep(provider); err != nil {
		return nil, err
	}
	folder, err := tempdir.Make("kind")
	if err != nil {
		return nil, err
	}
	c := &Cluster{Name: name(n, s.Keep), keep: s.Keep, engine: engine, provider: provider, folder: folder}
	if err := c.claimName(); err != nil {
		return nil, errors.Join(err, folder.Remove())
	}
	if err := c.begin(ctx, s); err != nil {
		return nil, fmt.Errorf("kind cluster %s: %w", c.Name, c.abandon(err))
	}
	return c, nil
}

// claimName locks a kept cluster against other processes until Delete is called or this process
// ends.
func (c *Cluster) claimName() error {
	if c.keep == "" {
		return nil // its name has our PID
	}
	claim, err := os.OpenFile(filepath.Join(os.TempDir(), c.Name+".lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600) // other users can write to this folder
	if err != nil {
		return err
	}
	if err := unix.Flock(int(claim.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		claim.Close()
		return fmt.Errorf("kind cluster %s is in use by another run: wait for its end, or keep one with another name", c.Name)
	}
	c.claim = claim
	return nil
}

func (c *Cluster) begin(ctx context.Context, s Settings) error {
	existing, err := c.provider.List()
	if err != nil {
		return err
	}
	if c.Reused = slices.Contains(existing, c.Name); !c.Reused {
		if err := c.provider.Create(c.Name, c.options(s)...); err != nil {
			return fmt.Errorf("%w%s", err, remedy(err, s.Image))
		}
	}
	if c.config, err = c.provider.KubeConfig(c.Name, false); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil { // kind itself cannot be interrupted
		return context.Cause(ctx)
	}
	all, err := c.provider.ListInternalNodes(c.Name)
	if err != nil {
		return err
	}
	for _, node := range all {
		found, err := c.node(ctx, node)
		if err != nil {
			return err
		}
		c.Nodes = append(c.Nodes, found)
	}
	if err := c.fits(s); err != nil {
		return err
	}
	slices.SortFunc(c.Nodes, func(a, b Node) int { return strings.Compare(a.Name, b.Name) }) // …-control-plane, …-worker
	return nil
}

// fits returns an error if a kept cluster differs from the settings. It cannot check the kubeadm
// patches.
func (c *Cluster) fits(s Settings) error {
	if !c.Reused {
		return nil
	}
	what := ""
	if n := s.Workers + 1; len(c.Nodes) != n {
		what = fmt.Sprintf("%s instead of %d", plural.Of(len(c.Nodes), "node"), n)
	}
	for _, node := range c.Nodes {
		if s.Image != "" && node.Image != s.Image {
			what = fmt.Sprintf("nodes of %s instead of %s", node.Image, s.Image)
		}
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("the kept cluster has %s: keep this one with another name, or remove the kept one (%s rm -f -v $(%[2]s ps -aq --filter label=io.x-k8s.kind.cluster=%s))", what, c.engine, c.Name)
}

// abandon removes what exists of a cluster whose creation failed. A reused cluster stays.
func (c *Cluster) abandon(why error) error {
	if !c.Reused {
		c.keep = ""
	}
	if err := c.Delete(); err != nil {
		return fmt.Errorf("%w; remove it: %w", why, err)
	}
	return why
}

func (c *Cluster) options(s Settings) []cluster.CreateOption {
	config := &v1alpha4.Cluster{Nodes: []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole}}}
	for range s.Workers {
		config.Nodes = append(config.Nodes, v1alpha4.Node{Role: v1alpha4.WorkerRole})
	}
	if s.Kubeadm != "" {
		config.KubeadmConfigPatches = []string{s.Kubeadm}
	}
	v1alpha4.SetDefaultsCluster(config)
	options := []cluster.CreateOption{
		cluster.CreateWithV1Alpha4Config(config),
		cluster.CreateWithKubeconfigPath(c.kubeconfig()), // kind writes to a file; this keeps it away from the user's own
		cluster.CreateWithWaitForReady(readyPatience),
	}
	if s.Image != "" {
		options = append(options, cluster.CreateWithNodeImage(s.Image))
	}
	return options
}

// remedy returns what to do about an error of kind, or "" if that is unknown.
func remedy(err error, image string) string {
	if !strings.Contains(err.Error(), "pull") && !strings.Contains(err.Error(), "No such image") {
		return ""
	}
	if image == "" {
		image = "kind's own node image"
	}
	return fmt.Sprintf(" (%s is not on this machine and cannot be pulled: choose another with --kind-image or KIND_IMAGE)", image)
}

var keepable = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// name returns the name of a cluster. It has the PID of this process, unless the cluster is kept.
func name(n int, keep string) string {
	if keep != "" {
		return fmt.Sprintf("windtunnel-%s-%d", keep, n)
	}
	return fmt.Sprintf("windtunnel-%d-%d", os.Getpid(), n)
}

func (c *Cluster) kubeconfig() string { return filepath.Join(c.folder.Path, "kubeconfig") }

// Kubeconfig returns the content of the kubeconfig for this machine.
func (c *Cluster) Kubeconfig() string { return c.config }

// REST returns the configuration of client-go for this machine.
func (c *Cluster) REST() (*rest.Config, error) {
	return clientcmd.RESTConfigFromKubeConfig([]byte(c.config))
}

// Delete removes the cluster. If the cluster is to be kept, it only ends its use by this process.
func (c *Cluster) Delete() error {
	defer c.folder.Remove()
	if c.claim != nil {
		defer c.claim.Close()
	}
	if c.keep != "" {
		return nil
	}
	return c.provider.Delete(c.Name, c.kubeconfig())
}

// Forget removes all clusters that were kept with a name.
func Forget(ctx context.Context, keep string) error {
	_, provider, err := connect(ctx)
	if err != nil {
		return err
	}
	names, err := provider.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, "windtunnel-"+keep+"-") {
			err = errors.Join(err, provider.Delete(name, "/dev/null"))
		}
	}
	return err
}

// Node is a node of a cluster, which is a container.
type Node struct {
	Name    string
	Address string // in the containers' network, reachable from this machine
	Image   string
	Init    int // the PID of its first process, on this machine
	node    nodes.Node
}
