// Package kind runs each subject in its own real cluster, created by kind: with a real API server,
// kubelet and network, and the controller as a pod of its Deployment. Its one rule: connections
// from the harness to nginx, and from nginx to simulated pods, are direct; nothing on the way
// rewrites their addresses, so that the worker of each connection is known.
package kind

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

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
	// Controller is the image of the bundled controller, or of its replacement; "" means
	// engine.Image.
	Controller string
	// Cluster has the settings of the clusters. A kept cluster is emptied before it is used again.
	Cluster kindcluster.Settings
	// Pool is the number of real pods in the cluster that run the simulated pods. With 0, simulated
	// pods are listeners on this machine, without a limit on their number, each with its own
	// address.
	Pool int
}

// PodPort is the port that every simulated pod listens on.
const PodPort = 8080

var (
	_ driver.FaultLimiter   = Driver{}
	_ driver.SubjectLimiter = Driver{}
	_ driver.PodLimiter     = Driver{}
	_ driver.ImageRunner    = Driver{}
)

// Name returns "kind".
func (Driver) Name() string { return "kind" }

// UnsupportedCluster implements driver.ClusterLimiter.
func (Driver) UnsupportedCluster() string {
	return "its pods listen on one port, and its cluster has namespaces of its own"
}

// UnsupportedSubject returns a reason for subjects that are not an image of the default adapter.
func (Driver) UnsupportedSubject(s subject.Subject) string {
	if s.Nginx+s.Lua+s.Template != "" {
		return "its nginx, Lua code and template are those of its image: remove nginx, lua and template, or use --driver local"
	}
	return cmp.Or(driver.UnsupportedBinary(s), driver.UnsupportedAdapter(s), driver.UnsupportedWebhook(s))
}

// Room implements driver.PodLimiter. It does not check a pool, whose pods are claimed one by one.
func (d Driver) Room(need backend.Need) error {
	if d.Pool > 0 {
		return nil
	}
	return need.Fit(blockPods)
}

// UnsupportedFault returns why a kind cluster does not meet the needs of a fault.
func (Driver) UnsupportedFault(name string) string {
	f, _ := fault.Find(name)
	return unsupportedFaults[f.Needs]
}

// unsupportedFaults maps needs of faults that a kind cluster does not meet to the reasons.
var unsupportedFaults = map[fault.Need]string{
	fault.APIServer: "the API server is a real one",
}

// Prepare creates a cluster, or empties a kept one, and the fleet for its pods.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Options) (_ driver.Instance, err error) {
	if err := driver.SupportsSubject(d, s); err != nil {
		return nil, err
	}
	setup, err := driver.SetupOf(s)
	if err != nil {
		return nil, err
	}
	image, err := kindcluster.FindImage(ctx, d.ImageOf(s))
	if err != nil {
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
	i := &instance{subject: s, options: in, setup: setup, image: image, cluster: cluster}
	setup.Metrics = "http://" + i.at(healthPort).String() + "/metrics"
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
		if err = i.removeLeftovers(ctx); err != nil {
			return nil, fmt.Errorf("empty the cluster %s: %w", cluster.Name, err)
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
		return nil, fmt.Errorf("prepare the fleet of pods: %w", err)
	}
	return i, nil
}

// listen sets the fleet to pods that are listeners on this machine.
func (i *instance) listen() (err error) {
	if i.block, err = claimBlock(); err != nil {
		return err
	}
	options := backend.Options{Prefix: i.block.prefix, Port: PodPort, Log: i.options.Log, Subject: i.subject.Name}
	if len(i.options.Streams) > 0 {
		options.StreamPort = driver.StreamPort
	}
	i.pods = backend.New(options)
	return nil
}

// ImageOf implements driver.ImageRunner.
func (d Driver) ImageOf(s subject.Subject) string {
	return cmp.Or(s.Image(), d.Controller, engine.Image)
}
