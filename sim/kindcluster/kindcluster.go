// Package kindcluster makes real Kubernetes clusters in containers of this machine,
// through kind's library. It stands between kind and who needs a cluster: the driver
// of that name, and the end-to-end suite. Its one rule: no cluster outlives the
// process that made it, unless it was asked to keep it.
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

// Settings are what a cluster is made of.
type Settings struct {
	// Image is that of the nodes; empty: the one that this kind version is made for,
	// which is pulled.
	Image string
	// Kubeadm patches kubeadm's configuration, as kind's kubeadmConfigPatches do.
	Kubeadm string
	// Workers is the number of nodes beside the control plane; with none, that takes pods.
	Workers int
	// Keep leaves the cluster there, by this name and its number, and takes it where
	// it is there. Empty: it is the process's, and goes with it.
	Keep string
}

// Cluster is a running one.
type Cluster struct {
	Name   string
	Nodes  []Node // the control plane first
	Reused bool   // it was there, from a run before

	keep     string
	claim    *os.File     // locked while the process has a cluster that is kept
	config   string       // as kubectl reads it
	folder   *tempdir.Dir // of the copy of config that kind wants
	engine   string
	provider *cluster.Provider
}

// readyPatience is how long a cluster may take until its nodes are ready.
const readyPatience = 3 * time.Minute

// Create makes cluster number n of this process, or finds the one of that number
// that was kept. What processes that live no more have left behind goes first.
func Create(ctx context.Context, n int, s Settings) (*Cluster, error) {
	if s.Keep != "" && !keepable.MatchString(s.Keep) {
		return nil, fmt.Errorf("a cluster cannot be kept as %q: its name has small letters and digits, a letter first", s.Keep)
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
		return nil, fmt.Errorf("the kind cluster %s: %w", c.Name, c.abandon(err))
	}
	return c, nil
}

// claimName keeps other processes from a cluster that is kept, until this one is
// through with it or ends.
func (c *Cluster) claimName() error {
	if c.keep == "" {
		return nil // its name has our PID
	}
	claim, err := os.OpenFile(filepath.Join(os.TempDir(), c.Name+".lock"), os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o600) // others write to this folder, too
	if err != nil {
		return err
	}
	if err := unix.Flock(int(claim.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		claim.Close()
		return fmt.Errorf("the kind cluster %s is another run's now: wait for its end, or keep one by another name", c.Name)
	}
	c.claim = claim
	return nil
}

func (c *Cluster) begin(ctx context.Context, s Settings) error {
	there, err := c.provider.List()
	if err != nil {
		return err
	}
	if c.Reused = slices.Contains(there, c.Name); !c.Reused {
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

// fits says why a cluster that was kept is not what is asked for. What kubeadm was
// told cannot be seen.
func (c *Cluster) fits(s Settings) error {
	if !c.Reused {
		return nil
	}
	what := ""
	if n := s.Workers + 1; len(c.Nodes) != n {
		what = fmt.Sprintf("%s, and is to have %d", plural.Of(len(c.Nodes), "node"), n)
	}
	for _, node := range c.Nodes {
		if s.Image != "" && node.Image != s.Image {
			what = fmt.Sprintf("nodes of %s, and is to have those of %s", node.Image, s.Image)
		}
	}
	if what == "" {
		return nil
	}
	return fmt.Errorf("it was kept with %s: keep this one by another name, or remove that one (%s rm -f -v $(%[2]s ps -aq --filter label=io.x-k8s.kind.cluster=%s))", what, c.engine, c.Name)
}

// abandon takes away what there is of a cluster that did not come about. One that
// was there before stays.
func (c *Cluster) abandon(why error) error {
	if !c.Reused {
		c.keep = ""
	}
	if err := c.Delete(); err != nil {
		return fmt.Errorf("%w; and removing it: %w", why, err)
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
		cluster.CreateWithKubeconfigPath(c.kubeconfig()), // kind insists on a file; the user's own is none of ours
		cluster.CreateWithWaitForReady(readyPatience),
	}
	if s.Image != "" {
		options = append(options, cluster.CreateWithNodeImage(s.Image))
	}
	return options
}

// remedy is what to do about an error of kind's, where that is known.
func remedy(err error, image string) string {
	if !strings.Contains(err.Error(), "pull") && !strings.Contains(err.Error(), "No such image") {
		return ""
	}
	if image == "" {
		image = "kind's own node image"
	}
	return fmt.Sprintf(" (%s is neither here nor can it be pulled: name one that is, by --kind-image or KIND_IMAGE)", image)
}

var keepable = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// name says whose a cluster is: that of the process, or nobody's.
func name(n int, keep string) string {
	if keep != "" {
		return fmt.Sprintf("windtunnel-%s-%d", keep, n)
	}
	return fmt.Sprintf("windtunnel-%d-%d", os.Getpid(), n)
}

func (c *Cluster) kubeconfig() string { return filepath.Join(c.folder.Path, "kubeconfig") }

// Kubeconfig is how kubectl reaches the cluster from this machine.
func (c *Cluster) Kubeconfig() string { return c.config }

// REST is how client-go does.
func (c *Cluster) REST() (*rest.Config, error) {
	return clientcmd.RESTConfigFromKubeConfig([]byte(c.config))
}

// Delete removes the cluster, unless it is to be kept.
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

// Forget removes all clusters that were kept by a name.
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

// Node is a container that is a node.
type Node struct {
	Name    string
	Address string // in the network of the containers, which this machine reaches
	Image   string
	Init    int // the PID of its first process, on this machine
	node    nodes.Node
}
