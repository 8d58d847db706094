package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// The labels of all that churn makes, the namespace included.
const (
	MadeByLabel = "app.kubernetes.io/managed-by"
	MadeBy      = "windtunnel"
	RunLabel    = "windtunnel.dev/run"
)

// ErrNotOurs is why a namespace is left alone.
var ErrNotOurs = errors.New("this namespace is not touched")

// ground is the namespace that churn has.
type ground struct {
	name string
	uid  types.UID // empty: it is to be made
	own  bool      // made by this run, or to be
}

// survey looks at a namespace, and says why churn must leave it alone: it has
// not made it, and touch does not name it.
func survey(ctx context.Context, client kubernetes.Interface, name, touch, run string) (ground, error) {
	if touch != "" && touch != name {
		return ground{}, fmt.Errorf("%w: it is %s, and the one that may be touched is %s; name the same one in both", ErrNotOurs, name, touch)
	}
	is, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ground{name: name, own: true}, nil
	}
	if err != nil {
		return ground{}, fmt.Errorf("looking at namespace %s: %w", name, err)
	}
	return judge(is, touch, run)
}

func judge(is *corev1.Namespace, touch, run string) (ground, error) {
	maker, other := is.Labels[MadeByLabel], is.Labels[RunLabel]
	switch {
	case is.DeletionTimestamp != nil || is.Status.Phase == corev1.NamespaceTerminating:
		return ground{}, fmt.Errorf("%w: %s is being deleted; wait until it is gone, or choose another", ErrNotOurs, is.Name)
	case maker == MadeBy && other == run: // an answer of the API was lost
		return ground{name: is.Name, uid: is.UID, own: true}, nil
	case touch == is.Name:
		return ground{name: is.Name, uid: is.UID}, nil
	case maker == MadeBy && other != "":
		return ground{}, fmt.Errorf("%w: %s was made by another run, %s; choose another, or when that run is over: kubectl delete namespace %s", ErrNotOurs, is.Name, other, is.Name)
	}
	return ground{}, fmt.Errorf("%w: %s is there, and windtunnel did not make it; choose one that is not there, or say --yes-touch %s if you mean it", ErrNotOurs, is.Name, is.Name)
}

// claim makes the namespace unless it is there. Who is faster has it.
func (g *ground) claim(ctx context.Context, client kubernetes.Interface, run string) error {
	if g.uid != "" {
		return nil
	}
	made, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: g.name, Labels: labels(run)}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		if *g, err = survey(ctx, client, g.name, "", run); err == nil && g.uid == "" {
			err = fmt.Errorf("%w: %s comes and goes", ErrNotOurs, g.name)
		}
		return err
	}
	if err != nil {
		return fmt.Errorf("making namespace %s: %w", g.name, err)
	}
	g.uid = made.UID
	return nil
}

func labels(run string) map[string]string {
	return map[string]string{MadeByLabel: MadeBy, RunLabel: run}
}

// remove deletes the namespace that this run made, and no other of its name,
// and returns when it is gone.
func (g ground) remove(ctx context.Context, client kubernetes.Interface) error {
	namespaces, asked := client.CoreV1().Namespaces(), false
	err := patiently(ctx, func(ctx context.Context) (bool, error) {
		is, err := namespaces.Get(ctx, g.name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && asked && is.UID != g.uid:
			return true, nil
		case err != nil || is.DeletionTimestamp != nil:
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
		return fmt.Errorf("%w: %s was made anew by somebody else during the run: %w", ErrNotOurs, g.name, err)
	case err != nil:
		return fmt.Errorf("namespace %s may be left: %w; remove it with kubectl delete namespace %s", g.name, err, g.name)
	}
	return nil
}

// patiently repeats what is not done, or failed in passing, until ctx ends.
func patiently(ctx context.Context, do wait.ConditionWithContextFunc) error {
	var passed error
	err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		done, err := do(ctx)
		if passed = nil; passing(err) {
			passed = err
			return false, nil
		}
		return done, err
	})
	if wait.Interrupted(err) && passed != nil {
		return fmt.Errorf("%w, the last answer: %w", err, passed)
	}
	return err
}

// passing says that an error may not come again: the API did not answer, or not now.
func passing(err error) bool {
	if err == nil || errors.Is(err, ErrNotOurs) {
		return false
	}
	switch apierrors.ReasonForError(err) {
	case metav1.StatusReasonUnknown, metav1.StatusReasonInternalError, metav1.StatusReasonServiceUnavailable,
		metav1.StatusReasonServerTimeout, metav1.StatusReasonTimeout, metav1.StatusReasonTooManyRequests:
		return true
	}
	return false
}
