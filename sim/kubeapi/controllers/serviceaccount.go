package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

const defaultAccount = "default"

// serviceAccount keeps the service account default in every namespace.
type serviceAccount struct {
	*cluster
	namespaces listers.NamespaceLister
	accounts   listers.ServiceAccountLister
}

func newServiceAccount(c *cluster) (*loop, error) {
	accounts := c.named(defaultAccount).Core().V1().ServiceAccounts()
	s := &serviceAccount{cluster: c, namespaces: c.informers.Core().V1().Namespaces().Lister(), accounts: accounts.Lister()}
	l := newLoop(s.sync)
	l.watch(c.informers.Core().V1().Namespaces().Informer(), ownKey)
	l.watch(accounts.Informer(), ownNamespace)
	return l, nil
}

// ownNamespace returns the key of an object's namespace.
func ownNamespace(obj metav1.Object) []string { return []string{obj.GetNamespace()} }

func (s *serviceAccount) sync(ctx context.Context, namespace string) error {
	if ns, err := s.namespaces.Get(namespace); err != nil || ns.DeletionTimestamp != nil {
		return ignoreNotFound(err)
	}
	if _, err := s.accounts.ServiceAccounts(namespace).Get(defaultAccount); !apierrors.IsNotFound(err) {
		return err
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: defaultAccount}}
	_, err := s.client.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{})
	return err
}
