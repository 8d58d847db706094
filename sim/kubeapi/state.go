package kubeapi

import (
	"fmt"
	"sync"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// clusterState is all objects of a cluster, and what changes them.
type clusterState struct {
	revision            atomic.Uint64 // the newest resourceVersion, of all resources
	collections         map[*resource]*collection
	namespaces          *collection
	services            *collection
	pods                *collection
	definitions         *collection // of custom resources
	custom              atomic.Pointer[registry]
	webhooks            webhooks
	creating            sync.RWMutex // held shared by creations: a namespace that ends waits for them
	clusterIPs          clusterIPs
	loopback            bool // endpoints may have loopback addresses
	kubelet             bool // somebody ends deleted pods; else they are gone with the request
	namespaceController bool // somebody empties deleted namespaces; else the state does
}

// stateOptions say what a cluster allows, and who works on it.
type stateOptions struct {
	resolveService      serviceResolver
	loopback            bool
	kubelet             bool
	namespaceController bool
}

// newClusterState returns a cluster with nothing but the namespaces that every cluster has.
func newClusterState(opts stateOptions) (*clusterState, error) {
	s := &clusterState{collections: map[*resource]*collection{}, loopback: opts.loopback, kubelet: opts.kubelet, namespaceController: opts.namespaceController}
	for _, res := range resources {
		if res.view == nil {
			s.collections[res] = newCollection(res, &s.revision)
		}
	}
	s.pods = s.builtIn(corev1.SchemeGroupVersion, "pods")
	s.services = s.builtIn(corev1.SchemeGroupVersion, "services")
	s.namespaces = s.builtIn(corev1.SchemeGroupVersion, "namespaces")
	s.watchDefinitions()
	s.webhooks.watch(s.namespaces, s.builtIn(admissionregistrationv1.SchemeGroupVersion, "validatingwebhookconfigurations"),
		s.builtIn(admissionregistrationv1.SchemeGroupVersion, "mutatingwebhookconfigurations"), opts.resolveService)
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		s.prepareNew(s.namespaces.res, ns)
		if _, err := s.namespaces.commit(watch.Added, nil, ns); err != nil {
			return nil, fmt.Errorf("creating namespace %s: %w", name, err)
		}
	}
	return s, nil
}

// builtIn returns the collection of a built-in resource.
func (s *clusterState) builtIn(gv schema.GroupVersion, name string) *collection {
	return s.collections[findResource(gv, name)]
}

// version is the newest resourceVersion, of all resources.
func (s *clusterState) version() uint64 { return s.revision.Load() }

func (s *clusterState) loopbackEndpoints() bool { return s.loopback }

// holds counts the objects of each resource that has any, by its name as kubectl writes it.
func (s *clusterState) holds() map[string]int {
	counts := map[string]int{}
	for c := range s.everyCollection() {
		if n := c.len(); n > 0 {
			counts[c.res.groupResource().String()] = n
		}
	}
	return counts
}
