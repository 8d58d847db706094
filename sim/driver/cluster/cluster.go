// Package cluster runs subjects in an existing cluster that others use as well. Each subject's
// controller, its pods and its generators run in a namespace of the run; the scenario's objects are there
// or, if they are in several namespaces, in further ones beside it. Its one rule: it needs no
// permissions beyond its roles, and leaves nothing behind.
package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/subject"
)

// Options describe the cluster, and what a run does there.
type Options struct {
	API *rest.Config
	// Image is the image of the bundled controller; "" means engine.Image. Nodes pull it if they lack it.
	Image string
	// Harness is the image with windtunnel, for pods, generators and observers.
	Harness string
	// Pool is the number of real pods that act as the simulated pods; 0: as many as the scenario needs.
	Pool int
	// Traffic is the number of pods that send the requests; 0: this process sends them, through the API
	// server.
	Traffic int
	// Tell is called with each message for the user. It may be nil.
	Tell func(notice string)
}

// HarnessImage is the name that `make image` gives to the image with windtunnel.
const HarnessImage = "localhost/windtunnel:dev"

// MostTraffic bounds the number of traffic pods.
const MostTraffic = 1000

// Driver is a driver of one cluster.
type Driver struct {
	Options
	client      kubernetes.Interface
	annotations map[string]string // of traffic pods: simulated clusters learn from them how long pods run
}

var (
	_ driver.FaultLimiter   = (*Driver)(nil)
	_ driver.SubjectLimiter = (*Driver)(nil)
	_ driver.ClusterLimiter = (*Driver)(nil)
)

// Open checks that the user may do in the cluster what a run does. It creates nothing, and reports what
// killed runs have left behind.
func Open(ctx context.Context, o Options) (*Driver, error) {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if o.Traffic < 0 || o.Traffic > MostTraffic {
		return nil, fmt.Errorf("--traffic-pods: %d: want 0 to %d", o.Traffic, MostTraffic)
	}
	if o.Pool < 0 {
		return nil, fmt.Errorf("--pool: %d: want 0, for as many as the scenario needs, or more", o.Pool)
	}
	o.Image, o.Harness = cmp.Or(o.Image, engine.Image), cmp.Or(o.Harness, HarnessImage)
	o.API = rest.CopyConfig(o.API)
	o.API.QPS = -1 // no limit of the client's own
	d := &Driver{Options: o}
	var err error
	if d.client, err = kubernetes.NewForConfig(cluster.FinishWrites(o.API, cluster.WriteGrace)); err != nil {
		return nil, err
	}
	if err := d.requirePermissions(ctx); err != nil {
		return nil, err
	}
	if err := cluster.FindLeftovers(d.leftovers).Report(ctx, d.Tell); err != nil {
		return nil, err
	}
	return d, nil
}

// Name returns "cluster".
func (*Driver) Name() string { return "cluster" }

// UnsupportedCluster implements driver.ClusterLimiter.
func (*Driver) UnsupportedCluster() string {
	return "its pods listen on one port"
}

// UnsupportedSubject returns a reason for subjects that are not an image of the default adapter.
func (*Driver) UnsupportedSubject(s subject.Subject) string {
	if s.Nginx+s.Lua+s.Template != "" {
		return "its nginx, Lua code and template are those of its image: remove nginx, lua and template, or use --driver local"
	}
	return cmp.Or(driver.UnsupportedBinary(s), driver.UnsupportedAdapter(s), driver.UnsupportedWebhook(s))
}

// UnsupportedFault returns why a cluster that others use does not support a fault. The observer in
// the pod of the controller and nginx sends their signals.
func (*Driver) UnsupportedFault(name string) string {
	f, _ := fault.Find(name)
	return unsupportedFaults[f.Needs]
}

// unsupportedFaults maps needs of faults that such a cluster does not meet to the reasons.
var unsupportedFaults = map[fault.Need]string{
	fault.APIServer:     "other clients use the API server: use --driver local or container",
	fault.Configuration: "the files and the network of nginx's container are out of reach: use --driver local, container or kind",
}

// ImageOf implements driver.ImageRunner.
func (d *Driver) ImageOf(s subject.Subject) string { return cmp.Or(s.Image(), d.Image) }

// repository returns the last part of the name of an image, without its tag.
func repository(image string) string {
	name, _, _ := strings.Cut(path.Base(image), "@")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// Prepare removes what killed runs have left behind, creates the namespaces of a subject, checks
// that there is room for its pods, and starts the pods that act as simulated pods.
func (d *Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Options) (_ driver.Instance, err error) {
	if err := driver.SupportsSubject(d, s); err != nil {
		return nil, err
	}
	i := &instance{
		driver: d, subject: s, options: in, home: home{client: d.client, run: strings.ToLower(rand.Text()[:8])},
		pool: cmp.Or(d.Pool, in.Pods+spare), token: rand.Text(),
	}
	i.names = newNames(i.home, in.Namespaces)
	if i.setup, err = driver.SetupOf(s); err != nil {
		return nil, err
	}
	if err := i.requireFurther(ctx); err != nil {
		return nil, err
	}
	if in.Index == 0 {
		if err := cluster.FindLeftovers(d.leftovers).RemoveExpired(ctx); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.Stop(ctx))
		}
	}()
	for _, step := range []func(context.Context) error{i.home.begin, i.createFurther, i.checkRoom, i.openPool} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return i, nil
}

// spare is the number of extra pods in a pool, because some may not answer.
const spare = 2
