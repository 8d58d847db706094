package live

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/cluster"
)

// The labels of all objects that churn creates, including the namespace.
const (
	MadeByLabel = cluster.MadeByLabel
	MadeBy      = cluster.MadeBy
	RunLabel    = "windtunnel.dev/run"
)

// ErrNotOurs is the error for a namespace that churn must not touch.
var ErrNotOurs = fmt.Errorf("this namespace is %w", cluster.ErrNotOurs)

// runNamespace is the namespace of a run.
type runNamespace struct {
	name string
	uid  types.UID // empty if the namespace does not exist yet
	own  bool      // this run creates, or created, the namespace
}

// findNamespace looks up a namespace. It returns ErrNotOurs if this run did not create the
// namespace and touch does not name it.
func findNamespace(ctx context.Context, client kubernetes.Interface, name, touch, run string) (runNamespace, error) {
	if touch != "" && touch != name {
		return runNamespace{}, fmt.Errorf("%w: --namespace is %s and --yes-touch is %s; both must be the same", ErrNotOurs, name, touch)
	}
	found, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return runNamespace{name: name, own: true}, nil
	}
	if err != nil {
		return runNamespace{}, fmt.Errorf("get namespace %s: %w", name, err)
	}
	return checkNamespace(found, touch, run)
}

func checkNamespace(found *corev1.Namespace, touch, run string) (runNamespace, error) {
	maker, other := found.Labels[MadeByLabel], found.Labels[RunLabel]
	switch {
	case found.DeletionTimestamp != nil || found.Status.Phase == corev1.NamespaceTerminating:
		return runNamespace{}, fmt.Errorf("%w: %s is being deleted; wait until it is gone, or choose another", ErrNotOurs, found.Name)
	case maker == MadeBy && other == run: // the API created it, but its answer was lost
		return runNamespace{name: found.Name, uid: found.UID, own: true}, nil
	case touch == found.Name:
		return runNamespace{name: found.Name, uid: found.UID}, nil
	case maker == MadeBy && other != "":
		return runNamespace{}, fmt.Errorf("%w: %s was created by another run, %s; choose another, or when that run is over: kubectl delete namespace %s", ErrNotOurs, found.Name, other, found.Name)
	}
	return runNamespace{}, fmt.Errorf("%w: %s exists, and windtunnel did not create it; choose one that does not exist, or pass --yes-touch %s to use it", ErrNotOurs, found.Name, found.Name)
}

// claim creates the namespace if it does not exist. It returns ErrNotOurs if another client creates it
// first.
func (g *runNamespace) claim(ctx context.Context, client kubernetes.Interface, run string) error {
	if g.uid != "" {
		return nil
	}
	made, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: g.name, Labels: labels(run)}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		if *g, err = findNamespace(ctx, client, g.name, "", run); err == nil && g.uid == "" {
			err = fmt.Errorf("%w: %s was created and deleted by another client in the meantime", ErrNotOurs, g.name)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("create namespace %s: %w", g.name, err)
	}
	g.uid = made.UID
	return nil
}

func labels(run string) map[string]string {
	return map[string]string{MadeByLabel: MadeBy, RunLabel: run}
}

// remove deletes the namespace that this run created, but not another one of the same name. It
// returns when the namespace is gone.
func (g runNamespace) remove(ctx context.Context, client kubernetes.Interface) error {
	namespaces, asked := client.CoreV1().Namespaces(), false
	err := cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		found, err := namespaces.Get(ctx, g.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && asked && found.UID != g.uid:
			return true, nil
		case err != nil || found.DeletionTimestamp != nil:
			return false, err
		}
		err = namespaces.Delete(ctx, g.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &g.uid}})
		asked = err == nil
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w: %s was recreated by another client during the run: %w", ErrNotOurs, g.name, err)
	case err != nil:
		return fmt.Errorf("namespace %s may still exist: %w; remove it with kubectl delete namespace %s", g.name, err, g.name)
	}
	return nil
}
