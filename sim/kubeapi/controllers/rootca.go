package controllers

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
)

const (
	rootCAName        = "kube-root-ca.crt"
	rootCAKey         = "ca.crt"
	rootCADescription = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
		"No other usage is guaranteed across distributions of Kubernetes clusters."
)

// rootCA publishes the certificate of the API server's CA in a ConfigMap in every namespace. The
// certificate is that of Options.RootCA, or of the configuration with which the controllers connect.
// Without one, over plain HTTP, there is nothing to publish.
type rootCA struct {
	*cluster
	want       map[string]string // the data of the ConfigMap
	namespaces listers.NamespaceLister
	published  listers.ConfigMapLister
}

func newRootCA(c *cluster) (*loop, error) {
	certificate := c.opts.RootCA
	if certificate == nil {
		config := rest.CopyConfig(c.config)
		if err := rest.LoadTLSFiles(config); err != nil {
			return nil, fmt.Errorf("reading the CA of the API server: %w", err)
		}
		certificate = config.CAData
	}
	if len(certificate) == 0 {
		return newLoop(func(context.Context, string) error { return nil }), nil
	}
	published := c.named(rootCAName).Core().V1().ConfigMaps()
	r := &rootCA{cluster: c, want: map[string]string{rootCAKey: string(certificate)},
		namespaces: c.informers.Core().V1().Namespaces().Lister(), published: published.Lister()}
	l := newLoop(r.sync)
	l.watch(c.informers.Core().V1().Namespaces().Informer(), ownKey)
	l.watch(published.Informer(), ownNamespace)
	return l, nil
}

func (r *rootCA) sync(ctx context.Context, namespace string) error {
	if ns, err := r.namespaces.Get(namespace); err != nil || ns.DeletionTimestamp != nil {
		return ignoreNotFound(err)
	}
	api := r.client.CoreV1().ConfigMaps(namespace)
	old, err := r.published.ConfigMaps(namespace).Get(rootCAName)
	switch {
	case apierrors.IsNotFound(err):
		_, err = api.Create(ctx, &corev1.ConfigMap{Data: r.want, ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: rootCAName,
			Annotations: map[string]string{"kubernetes.io/description": rootCADescription}}}, metav1.CreateOptions{})
		return err
	case err != nil || maps.Equal(old.Data, r.want):
		return err
	}
	next := old.DeepCopy()
	next.Data, next.BinaryData = r.want, nil
	_, err = api.Update(ctx, next, metav1.UpdateOptions{})
	return err
}
