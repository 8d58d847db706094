package adapterstest

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	informers "k8s.io/client-go/informers/networking/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// ingresses is the frontend of controllers that serve ingresses.
type ingresses struct {
	client kubernetes.Interface
	all    informers.IngressInformer
}

func (i *ingresses) informer() cache.SharedIndexInformer { return i.all.Informer() }

func (i *ingresses) rules() (rules []rule, err error) {
	all, err := i.all.Lister().List(labels.Everything())
	for _, ingress := range all {
		for _, r := range ingress.Spec.Rules {
			if r.HTTP == nil {
				continue
			}
			for _, path := range r.HTTP.Paths {
				rules = append(rules, rule{ingress.Namespace, r.Host, path.Path, path.Backend.Service.Name})
			}
		}
	}
	return rules, err
}

func (i *ingresses) publish(ctx context.Context, address string) error {
	all, err := i.all.Lister().List(labels.Everything())
	if err != nil {
		return err
	}
	for _, ingress := range all {
		if len(ingress.Status.LoadBalancer.Ingress) > 0 {
			continue
		}
		ingress = ingress.DeepCopy()
		ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: address}}
		if _, err := i.client.NetworkingV1().Ingresses(ingress.Namespace).UpdateStatus(ctx, ingress, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
