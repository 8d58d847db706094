package watch

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	core "k8s.io/client-go/informers/core/v1"
	discovery "k8s.io/client-go/informers/discovery/v1"
	networking "k8s.io/client-go/informers/networking/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// informers follow one kind of object each, with ingress-nginx's selectors.
type informers struct {
	ingresses     cache.SharedIndexInformer
	classes       cache.SharedIndexInformer
	services      cache.SharedIndexInformer
	slices        cache.SharedIndexInformer
	secrets       cache.SharedIndexInformer
	configMaps    cache.SharedIndexInformer
	ownConfigMaps []cache.SharedIndexInformer // for the controller's own in other namespaces
	namespaces    cache.SharedIndexInformer   // nil without a selector
}

func newInformers(client kubernetes.Interface, o Options) informers {
	plain := func(*metav1.ListOptions) {}
	none := cache.Indexers{}
	i := informers{
		ingresses: networking.NewFilteredIngressInformer(client, o.Namespace, o.Resync, none, plain),
		classes:   networking.NewFilteredIngressClassInformer(client, o.Resync, none, plain),
		services:  core.NewFilteredServiceInformer(client, o.Namespace, o.Resync, none, plain),
		slices:    discovery.NewFilteredEndpointSliceInformer(client, o.Namespace, o.Resync, none, plain),
		// Helm stores its releases in large Secrets and ConfigMaps that no ingress ever names.
		secrets: core.NewFilteredSecretInformer(client, o.Namespace, o.Resync, none, func(list *metav1.ListOptions) {
			list.FieldSelector = "type!=helm.sh/release.v1"
		}),
		configMaps: core.NewFilteredConfigMapInformer(client, o.Namespace, o.Resync, none, func(list *metav1.ListOptions) {
			list.LabelSelector = "OWNER!=TILLER"
		}),
	}
	all := []cache.SharedIndexInformer{i.ingresses, i.classes, i.services, i.slices, i.secrets, i.configMaps}
	for _, own := range o.ConfigMaps {
		if o.Namespace == corev1.NamespaceAll || own.Namespace == o.Namespace {
			continue
		}
		i.ownConfigMaps = append(i.ownConfigMaps, core.NewFilteredConfigMapInformer(client, own.Namespace, o.Resync, none, func(list *metav1.ListOptions) {
			list.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, own.Name).String()
		}))
	}
	all = append(all, i.ownConfigMaps...)
	if o.NamespaceSelector != nil {
		i.namespaces = core.NewFilteredNamespaceInformer(client, o.Resync, none, func(list *metav1.ListOptions) {
			list.LabelSelector = o.NamespaceSelector.String()
		})
		all = append(all, i.namespaces)
	}
	for _, informer := range all {
		// SetTransform fails only if the informer is running.
		if err := informer.SetTransform(dropManagedFields); err != nil {
			panic(err)
		}
	}
	return i
}

// dropManagedFields removes managed fields, which are not used, to save memory.
func dropManagedFields(object any) (any, error) {
	if meta, ok := object.(metav1.Object); ok {
		meta.SetManagedFields(nil)
	}
	return object, nil
}
