// Package kind runs subjects in real clusters, one each, made by kind: the
// controller as a pod of its Deployment, the API server, the kubelet and the network
// as they are. It stands between the driver interface and sim/kindcluster. Its one
// rule: what the harness asks nginx, and nginx a simulated pod, goes from address to
// address; nothing on the way rewrites it, so that each connection's worker is known.
package kind

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/subject"
)

// Driver runs subjects in kind clusters.
type Driver struct {
	// Controller is the image of the bundled controller, or of what is to run in its
	// place; empty: engine.Image.
	Controller string
	// Cluster is what the clusters are made of; one that is kept is emptied
	// before it is used again.
	Cluster kindcluster.Settings
	// Pool is the number of real pods, in the cluster, that are the simulated ones.
	// 0: those are listeners of this machine, as many as are asked for, each at an
	// address of its own.
	Pool int
}

// PodPort is the port that every simulated pod listens on.
const PodPort = 8080

// Name is "kind".
func (Driver) Name() string { return "kind" }

// Refuses binaries: they are not in an image.
func (Driver) Refuses(s subject.Subject) string { return driver.RefusesBinaries(s) }

// Lacks returns why a kind cluster does not have what a fault needs.
func (Driver) Lacks(name string) string {
	f, _ := fault.Find(name)
	return lacks[f.Needs]
}

// lacks has what faults need and a kind cluster does not have.
var lacks = map[fault.Need]string{
	fault.APIServer: "the API server is a real one",
}

// Prepare makes a cluster, and room for pods on this machine.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Room) (_ driver.Instance, err error) {
	if err := driver.Takes(d, s); err != nil {
		return nil, err
	}
	cluster, err := kindcluster.Create(ctx, in.Index, d.Cluster)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			cluster.Delete()
		}
	}()
	i := &instance{subject: s, room: in, cluster: cluster}
	if i.image, err = cluster.Image(ctx, d.image(s)); err != nil {
		return nil, err
	}
	if i.api, err = cluster.REST(); err != nil {
		return nil, err
	}
	if i.client, err = kubernetes.NewForConfig(i.api); err != nil {
		return nil, err
	}
	if err = os.WriteFile(filepath.Join(in.Dir, "kubeconfig"), []byte(cluster.Kubeconfig()), 0o600); err != nil {
		return nil, err
	}
	if cluster.Reused {
		if err = i.empty(ctx); err != nil {
			return nil, fmt.Errorf("emptying the cluster %s: %w", cluster.Name, err)
		}
	}
	if err = cluster.Load(ctx, i.image.Name); err != nil {
		return nil, err
	}
	if d.Pool > 0 {
		i.pods, err = i.openPool(ctx, d.Pool)
	} else {
		err = i.listen()
	}
	if err != nil {
		return nil, fmt.Errorf("making room for pods: %w", err)
	}
	return i, nil
}

// listen makes the simulated pods listeners of this machine.
func (i *instance) listen() (err error) {
	if i.block, err = claimBlock(); err != nil {
		return err
	}
	options := backend.Options{Prefix: i.block.prefix, Port: PodPort, Log: i.room.Log, Subject: i.subject.Name}
	if len(i.room.Streams) > 0 {
		options.StreamPort = driver.StreamPort
	}
	i.pods = backend.New(options)
	return nil
}

// image is that of the subject's controller.
func (d Driver) image(s subject.Subject) string {
	if s.Controller != subject.Bundled {
		return strings.TrimPrefix(s.Controller, subject.ImagePrefix)
	}
	return cmp.Or(d.Controller, engine.Image)
}
