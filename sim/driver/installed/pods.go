package installed

import (
	"context"
	"crypto/rand"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/backend/pool"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/subject"
)

const (
	// poolName is the name of the Deployment of real pods, and of its Secret.
	poolName = "pods"
	// memberPatience is how long a start waits until a real pod has rested: longer than its rest.
	memberPatience = 3 * pool.Rest
)

// listen makes pods listeners on loopback addresses of this machine.
func (i *instance) listen(s subject.Subject, in driver.Options) error {
	block, err := backend.ClaimBlock(pool.Port)
	if err != nil {
		return err
	}
	i.pods = backend.New(backend.Options{Prefix: block.Prefix, Port: pool.Port, Log: in.Log, Subject: s.Name})
	i.endPods = func() { i.pods.Stop(); block.Release() }
	return nil
}

// openPool creates real pods and opens a fleet of them.
func (i *instance) openPool(ctx context.Context, s subject.Subject, in driver.Options) error {
	d := i.driver
	shape := pool.Spec{Namespace: i.Namespace(), Name: poolName, Image: d.Image, Replicas: int32(d.Pool), Token: rand.Text()}
	for _, typed := range shape.Objects() {
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		if err := i.objects.writer.CreateAll(ctx, []*unstructured.Unstructured{object}); err != nil {
			return err
		}
	}
	if err := pool.Await(ctx, d.client, shape.Namespace, shape.Name, shape.Replicas); err != nil {
		return err
	}
	fleet, err := pool.Open(ctx, pool.Options{
		Config: d.API, Namespace: shape.Namespace, Name: shape.Name, Token: shape.Token,
		Patience: memberPatience, Log: in.Log, Subject: s.Name,
	})
	if err != nil {
		return err
	}
	i.pods, i.endPods = fleet, fleet.Stop
	return nil
}
