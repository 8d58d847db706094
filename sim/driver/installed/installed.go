// Package installed runs behaviour cases on an existing installation of a controller that others
// use as well. It starts nothing but pods. Its one rule: it neither changes nor removes what it did
// not create, except for the keys of the controller's ConfigMap, if the user names that; these get
// their former values back.
package installed

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/subject"
)

// Options describe an installation, and what a run may do with it.
type Options struct {
	API *rest.Config
	// URLs are the addresses of the controller: one that begins with http://, and perhaps one with
	// https://.
	URLs []string
	// Class is the name of the controller's IngressClass.
	Class string
	// Flags are flags that the controller has. Cases with other flags are skipped.
	Flags map[string]string
	// Has are the modules of nginx, as in module/http_modsecurity, that it is said to have. Cases that
	// need others are skipped.
	Has []string
	// ConfigMap is the controller's, if the run may change it. The zero value means that it may not.
	ConfigMap types.NamespacedName
	// CatchAll allows objects that affect requests of others, such as ingresses without a host.
	CatchAll bool
	// Replicas is the number of controllers that may answer at the URLs; 0: as many as their
	// Deployment or DaemonSet has.
	Replicas int
	// LocalPods makes pods listeners on loopback addresses of this machine, instead of a pool of real
	// pods.
	LocalPods bool
	// Pool is the number of real pods in the pool, and Image their image.
	Pool  int
	Image string
	// Tell is called with each notice for the user. It may be nil.
	Tell func(notice string)
}

// Driver is a driver of one installation.
type Driver struct {
	Options
	client      kubernetes.Interface
	http, https netip.AddrPort // https is not valid if there is no such URL
	certificate *x509.Certificate
	controller  controller
	classes     []string // names of all IngressClasses of the controller
}

var _ driver.Standing = (*Driver)(nil)

// Open examines an installation. It creates and changes nothing. An error means that cases cannot be
// run there.
func Open(ctx context.Context, o Options) (*Driver, error) {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	for _, name := range []string{"watch-namespace", "watch-namespace-selector"} {
		if value := o.Flags[name]; value != "" {
			return nil, fmt.Errorf("a controller with --%s=%s cannot run cases: each case has namespaces of its own", name, value)
		}
	}
	if !o.LocalPods && o.Pool <= sentinels {
		return nil, fmt.Errorf("a pool of %s is too small: the run itself needs %d", plural.Of(o.Pool, "pod"), sentinels)
	}
	d := &Driver{Options: o}
	var err error
	if d.client, err = kubernetes.NewForConfig(writing(o.API)); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{d.resolve, d.requirePermissions, d.findClasses, d.findReplicas, d.checkAnswers} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	if err := cluster.FindLeftovers(d.leftovers).Report(ctx, d.Tell); err != nil {
		return nil, err
	}
	return d, nil
}

// writing returns the configuration without the client's own limit of requests. An interrupt waits
// for writes that are on their way, so that the run removes what they make.
func writing(api *rest.Config) *rest.Config {
	api = cluster.FinishWrites(api, cluster.WriteGrace)
	api.QPS = -1
	return api
}

// Name returns "installed".
func (*Driver) Name() string { return "installed" }

// String describes the installation for reports.
func (d *Driver) String() string {
	text := fmt.Sprintf("%s, IngressClass %s of %s", strings.Join(d.URLs, " and "), d.Class, d.API.Host)
	return text + cmp.Or(d.controller.describe(), ", "+plural.Of(d.Replicas, "replica"))
}

// sentinels is the number of pods of a pool that the run needs for the sentinel, including replaced
// ones that are at rest.
const sentinels = 4

// Room implements driver.Standing.
func (d *Driver) Room() int {
	if d.LocalPods {
		return 0
	}
	return d.Pool - sentinels
}

// PoolFor returns how many real pods the pool needs if the cases that run at the same time have this
// many pods.
func PoolFor(pods int) int { return pods + sentinels }

// Prepare creates the run's own namespace and the fleet for its pods, after it has removed what
// earlier runs left behind.
func (d *Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Options) (_ driver.Instance, err error) {
	i := &instance{driver: d, run: strings.ToLower(rand.Text()[:8]), died: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, i.Stop(ctx))
		}
	}()
	if i.setup, err = driver.SetupOf(s); err != nil {
		return nil, err
	}
	if err = cluster.FindLeftovers(d.leftovers).RemoveExpired(ctx); err != nil {
		return nil, err
	}
	if i.objects, err = d.newObjects(ctx, i.run, i.Namespace()); err != nil {
		return nil, err
	}
	if err = i.begin(ctx); err != nil {
		return nil, err
	}
	if d.LocalPods {
		err = i.listen(s, in)
	} else {
		err = i.openPool(ctx, s, in)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the fleet of pods: %w", err)
	}
	return i, nil
}
