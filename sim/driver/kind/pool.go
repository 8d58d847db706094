package kind

import (
	"context"
	"crypto/rand"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/backend/pool"
	"windtunnel.dev/sim/cluster"
)

// PoolImage is the image of the pods of a pool.
const PoolImage = "localhost/windtunnel:dev"

// The names of the pool's objects in its cluster.
const (
	poolNamespace = "windtunnel-pool"
	poolName      = "pool"
)

// openPool creates a pool of real pods and returns the fleet that runs in it.
func (i *instance) openPool(ctx context.Context, replicas int) (backend.Fleet, error) {
	if err := i.cluster.Load(ctx, PoolImage); err != nil {
		return nil, err
	}
	shape := pool.Spec{
		Namespace: poolNamespace, Name: poolName, Image: PoolImage, Replicas: int32(replicas), Token: rand.Text(),
	}
	client, err := cluster.New(i.api)
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: poolNamespace}}
	for _, typed := range append([]runtime.Object{namespace}, shape.Objects()...) {
		object, err := cluster.Object(typed)
		if err != nil {
			return nil, err
		}
		if _, err := client.Put(ctx, object); err != nil {
			return nil, err
		}
	}
	if err := pool.Await(ctx, i.client, poolNamespace, poolName, shape.Replicas); err != nil {
		return nil, err
	}
	return pool.Open(ctx, pool.Options{
		Config: i.api, Namespace: poolNamespace, Name: poolName, Token: shape.Token,
		Log: i.options.Log, Subject: i.subject.Name,
	})
}
