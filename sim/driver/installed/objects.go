package installed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver"
)

// endPatience is how long a namespace of the run may take to end before it is created again.
const endPatience = time.Minute

// objects writes the objects of a run: with its label, and only in namespaces that it has created.
// The error of all others is cluster.ErrNotOurs.
type objects struct {
	driver   *Driver
	run      string
	writer   *cluster.Client
	settings *settings // nil: the controller's ConfigMap must not be changed
	taken    hosts     // hosts of others

	mu   sync.Mutex
	made map[string]bool // names of namespaces and IngressClasses that the run has created
}

var _ driver.Objects = (*objects)(nil)

// newObjects returns the objects of a run. It reads the hosts of others and, if the run may change it, the
// controller's ConfigMap.
func (d *Driver) newObjects(ctx context.Context, run, home string) (*objects, error) {
	writer, err := cluster.New(writing(d.API))
	if err != nil {
		return nil, err
	}
	o := &objects{driver: d, run: run, writer: writer.Labelled(labels(run)), made: map[string]bool{home: true}}
	if d.ConfigMap.Name != "" {
		if o.settings, err = openSettings(ctx, d.client, d.ConfigMap, &backup{run}); err != nil {
			return nil, err
		}
	}
	if o.taken, err = d.hostsOfOthers(ctx); err != nil {
		return nil, err
	}
	return o, nil
}

// Namespaced implements driver.Objects.
func (o *objects) Namespaced(object *unstructured.Unstructured) (bool, error) {
	return o.writer.Namespaced(object)
}

// Put implements driver.Objects.
func (o *objects) Put(ctx context.Context, object *unstructured.Unstructured) (string, error) {
	if o.isSettings(object) {
		data, _, err := unstructured.NestedStringMap(object.Object, "data")
		if err == nil {
			err = o.settings.set(ctx, data)
		}
		return "", err
	}
	object, err := o.scoped(object)
	if err != nil {
		return "", err
	}
	if err := o.admit(ctx, object); err != nil {
		return "", err
	}
	return o.writer.Put(ctx, object)
}

// Delete implements driver.Objects. An object that does not exist is no error: others may have
// removed it.
func (o *objects) Delete(ctx context.Context, object *unstructured.Unstructured) error {
	object, err := o.scoped(object)
	if err != nil {
		return err
	}
	if !o.owns(object) {
		return fmt.Errorf("%s: %w: this run did not create it", cluster.Name(object), cluster.ErrNotOurs)
	}
	if err := o.writer.Delete(ctx, object); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if !isNamespaced(object) {
		o.forget(object)
	}
	return nil
}

// scoped returns an object without its namespace if its kind has none, as API servers read it.
func (o *objects) scoped(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	namespaced, err := o.writer.Namespaced(object)
	if err == nil && !namespaced && isNamespaced(object) {
		object = object.DeepCopy()
		object.SetNamespace("")
	}
	return object, err
}

func (o *objects) isSettings(object *unstructured.Unstructured) bool {
	return o.settings != nil && object.GetKind() == "ConfigMap" &&
		object.GetNamespace() == o.settings.name.Namespace && object.GetName() == o.settings.name.Name
}

// admit returns nil if the run may write an object. It creates objects that belong to no namespace.
func (o *objects) admit(ctx context.Context, object *unstructured.Unstructured) error {
	switch {
	case o.owns(object):
	case isNamespaced(object):
		return fmt.Errorf("%s: %w: this run did not create the namespace", cluster.Name(object), cluster.ErrNotOurs)
	case object.GetKind() != "Namespace" && object.GetKind() != "IngressClass":
		return fmt.Errorf("%s: %w: objects without a namespace may be those of others", cluster.Name(object), cluster.ErrNotOurs)
	default:
		return o.create(ctx, object)
	}
	if object.GetKind() != "Ingress" || o.driver.CatchAll {
		return nil
	}
	return o.taken.admit(object)
}

// owns reports whether the run has created the object or its namespace.
func (o *objects) owns(object *unstructured.Unstructured) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.made[keyOf(object)]
}

func (o *objects) forget(object *unstructured.Unstructured) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.made, keyOf(object))
}

// keyOf returns the key in made of an object's namespace or, if it belongs to none, of the object.
func keyOf(object *unstructured.Unstructured) string {
	switch {
	case isNamespaced(object):
		return object.GetNamespace()
	case object.GetKind() == "Namespace":
		return object.GetName()
	}
	return object.GetKind() + " " + object.GetName() // no namespace has a space in its name
}

func isNamespaced(object *unstructured.Unstructured) bool { return object.GetNamespace() != "" }

// create creates an object that belongs to no namespace. If the run has just deleted one of this
// name, it waits for its end.
func (o *objects) create(ctx context.Context, object *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeoutCause(ctx, endPatience, fmt.Errorf("it did not end within %v", endPatience))
	defer cancel()
	err := cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		err := o.writer.CreateAll(ctx, []*unstructured.Unstructured{object})
		if !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) {
			return err == nil, err
		}
		return o.isOurs(ctx, object)
	})
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.made[keyOf(object)] = true
	return nil
}

// isOurs reports whether an existing object belongs to this run and is not being deleted. Then its
// creation succeeded although the answer was lost. For an object of others, the error is
// cluster.ErrNotOurs.
func (o *objects) isOurs(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	var found metav1.Object
	var err error
	if object.GetKind() == "Namespace" {
		found, err = o.driver.client.CoreV1().Namespaces().Get(ctx, object.GetName(), metav1.GetOptions{})
	} else {
		found, err = o.driver.client.NetworkingV1().IngressClasses().Get(ctx, object.GetName(), metav1.GetOptions{})
	}
	if apierrors.IsNotFound(err) {
		return false, nil // its deletion has just ended
	}
	if err != nil {
		return false, err
	}
	switch run := found.GetLabels()[RunLabel]; {
	case run == o.run:
		return found.GetDeletionTimestamp() == nil, nil
	case run != "":
		return false, fmt.Errorf("%s: %w: run %s created it; if that run is over: kubectl delete namespaces,ingressclasses -l %s=%s", cluster.Name(object), cluster.ErrNotOurs, run, RunLabel, run)
	}
	return false, fmt.Errorf("%s: %w: it exists, and this run did not create it", cluster.Name(object), cluster.ErrNotOurs)
}

// hostsOfOthers returns the hosts of all ingresses that the controller may serve.
func (d *Driver) hostsOfOthers(ctx context.Context) (hosts, error) {
	list, err := d.client.NetworkingV1().Ingresses("").List(ctx, metav1.ListOptions{LabelSelector: "!" + RunLabel})
	if err != nil {
		return nil, fmt.Errorf("list the ingresses of others: %w", err)
	}
	taken := hosts{}
	for _, ingress := range list.Items {
		if d.mayServe(&ingress) {
			taken.add(&ingress)
		}
	}
	return taken, nil
}

// defaultClass is the default of the controller's flag --ingress-class.
const defaultClass = "nginx"

// mayServe reports whether the controller may serve an ingress. An annotation has the value of that
// flag, which need not be the name of an IngressClass.
func (d *Driver) mayServe(ingress *networkingv1.Ingress) bool {
	class := ingress.Annotations["kubernetes.io/ingress.class"]
	known := append([]string{"", cmp.Or(d.Flags["ingress-class"], defaultClass)}, d.classes...)
	if ingress.Spec.IngressClassName != nil {
		class, known = *ingress.Spec.IngressClassName, d.classes
	}
	return slices.Contains(known, class)
}

// asIngress converts an object; an error means that the API server will not accept it either.
func asIngress(object *unstructured.Unstructured) (*networkingv1.Ingress, error) {
	var ingress networkingv1.Ingress
	return &ingress, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &ingress)
}
