// Package cluster writes objects to a Kubernetes API server, simulated or real, for the steps of a
// scenario. Its one rule: it has no code for particular kinds of objects; it looks them up through
// the server's discovery.
package cluster

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// Client writes objects of any kind.
type Client struct {
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
	known   *sync.Map         // the answers of mapper so far: schema.GroupVersionKind to *meta.RESTMapping
	labels  map[string]string // added to all objects that it writes

	translated *translated // nil: objects are written as they are
}

// New returns a client. It asks the server which resources it serves.
func New(config *rest.Config) (*Client, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // no client-side limit; the scenario sets the rate of the writes
	writer, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	finder, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(finder)
	if err != nil {
		return nil, fmt.Errorf("asking the API server for its resources: %w", err)
	}
	return &Client{dynamic: writer, mapper: restmapper.NewDiscoveryRESTMapper(groups), known: new(sync.Map)}, nil
}

// Labelled returns a client that adds these labels to all objects that it writes. Other labels of
// the objects stay.
func (c *Client) Labelled(labels map[string]string) *Client {
	labelled := *c
	labelled.labels = labels
	return &labelled
}

// ours returns a copy of the object with the client's labels.
func (c *Client) ours(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	if len(c.labels) > 0 {
		labels := maps.Clone(object.GetLabels())
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, c.labels)
		object.SetLabels(labels)
	}
	return object
}

// Object converts a typed object for a Client. It sets the kind and version from client-go's
// scheme.
func Object(typed runtime.Object) (*unstructured.Unstructured, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(typed)
	if err != nil {
		return nil, err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: fields}
	object.SetGroupVersionKind(kinds[0])
	return object, nil
}

// Put creates the object or, if it exists, replaces it regardless of its version. It returns the
// resourceVersion of the write.
func (c *Client) Put(ctx context.Context, object *unstructured.Unstructured) (string, error) {
	if c.translated != nil {
		return c.putTranslated(ctx, object)
	}
	return c.put(ctx, object)
}

func (c *Client) put(ctx context.Context, object *unstructured.Unstructured) (string, error) {
	resource, err := c.resource(object)
	if err != nil {
		return "", err
	}
	object = c.ours(object)
	written, err := replace(ctx, resource, object)
	if apierrors.IsNotFound(err) {
		object.SetResourceVersion("")
		written, err = resource.Create(ctx, object, metav1.CreateOptions{})
	}
	if err != nil {
		return "", fmt.Errorf("writing %s: %w", Name(object), err)
	}
	return written.GetResourceVersion(), nil
}

// replace updates an object regardless of its version. Kubernetes allows that at once for its own kinds;
// custom resources need their version.
func replace(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	object.SetResourceVersion("")
	if scheme.Scheme.Recognizes(object.GroupVersionKind()) {
		return resource.Update(ctx, object, metav1.UpdateOptions{})
	}
	for {
		now, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		object.SetResourceVersion(now.GetResourceVersion())
		written, err := resource.Update(ctx, object, metav1.UpdateOptions{})
		if !apierrors.IsConflict(err) { // somebody else, such as a controller, has written it in between
			return written, err
		}
	}
}

// Delete deletes the object. It returns an error if the object does not exist.
func (c *Client) Delete(ctx context.Context, object *unstructured.Unstructured) error {
	if c.translated != nil {
		return c.deleteTranslated(ctx, object)
	}
	return c.delete(ctx, object)
}

func (c *Client) delete(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := c.resource(object)
	if err != nil {
		return err
	}
	if err := resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting %s: %w", Name(object), err)
	}
	return nil
}

// CreateAll creates many objects: first the namespaces, then all others, up to 8 at the same time.
// It stops at the first error.
func (c *Client) CreateAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	objects, err := c.translateAll(objects)
	if err != nil {
		return err
	}
	for _, first := range []bool{true, false} {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(8)
		for _, object := range objects {
			if (object.GetKind() == "Namespace") != first {
				continue
			}
			group.Go(func() error { return c.create(ctx, object) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) create(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := c.resource(object)
	if err != nil {
		return err
	}
	if _, err := resource.Create(ctx, c.ours(object), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating %s: %w", Name(object), err)
	}
	return nil
}

// Namespaced reports whether objects of this kind belong to a namespace.
func (c *Client) Namespaced(object *unstructured.Unstructured) (bool, error) {
	mapping, err := c.mapping(object)
	return err == nil && mapping.Scope.Name() != meta.RESTScopeNameRoot, err
}

func (c *Client) mapping(object *unstructured.Unstructured) (*meta.RESTMapping, error) {
	kind := object.GroupVersionKind()
	if mapping, ok := c.known.Load(kind); ok {
		return mapping.(*meta.RESTMapping), nil
	}
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("%s: the API server does not serve %s: %w", Name(object), kind, err)
	}
	c.known.Store(kind, mapping)
	return mapping, nil
}

func (c *Client) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapping(object)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		return c.dynamic.Resource(mapping.Resource), nil
	}
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(namespace), nil
}

// Name returns the name of an object in messages and the event log: its kind, then namespace/name.
func Name(object *unstructured.Unstructured) string {
	if namespace := object.GetNamespace(); namespace != "" {
		return object.GetKind() + " " + namespace + "/" + object.GetName()
	}
	return object.GetKind() + " " + object.GetName()
}
