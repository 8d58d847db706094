// Package cluster holds the state of a cluster and the operations that change it: creations,
// updates, deletions, namespaces, custom resource definitions, and writes from within the process.
// It stands between the HTTP surface, which reads requests and writes answers, and the store. Its
// one rule: it knows operations but not HTTP; a write over HTTP and one from this process obey the
// same rules, except those of admission.
package cluster

import (
	"fmt"
	"sync"
	"sync/atomic"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/admission"
	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// State holds all objects of a cluster, and changes them.
type State struct {
	revision            atomic.Uint64 // the newest resourceVersion, of all resources
	collections         map[*resource.Resource]*store.Collection
	namespaces          *store.Collection
	services            *store.Collection
	pods                *store.Collection
	quotas              *store.Collection
	quota               sync.Mutex        // held while an object is created in a namespace with quotas
	stale               staleQuotas       // the namespaces that need syncQuotas
	definitions         *store.Collection // of custom resources
	custom              atomic.Pointer[Registry]
	webhooks            admission.Webhooks
	creating            sync.RWMutex // read-locked by creations: the end of a namespace waits for them
	clusterIPs          claims[string]
	nodePorts           claims[int32]
	loopback            bool // endpoints may have loopback addresses
	kubelet             bool // a kubelet ends deleted pods; otherwise they are removed at once
	accounts            bool // a controller creates the service account default of each namespace
	namespaceController bool // a controller empties deleted namespaces; otherwise State does
	creationTimes       bool // new objects keep the creation time that they bring
}

// Options configure what a cluster allows, and name the controllers that work on it.
type Options struct {
	ResolveService      admission.ServiceResolver
	Reviewed            func(admission.Review) // see admission.Webhooks
	Loopback            bool
	Kubelet             bool
	NamespaceController bool
	ServiceAccounts     bool
	CreationTimes       bool
}

// beginning is the version of the empty cluster, as in etcd. The first object has the next one.
const beginning = 1

// New returns a cluster with only the namespaces that every cluster has.
func New(opts Options) (*State, error) {
	s := &State{collections: map[*resource.Resource]*store.Collection{}, stale: staleQuotas{again: map[string]bool{}}, loopback: opts.Loopback, kubelet: opts.Kubelet, namespaceController: opts.NamespaceController, accounts: opts.ServiceAccounts, creationTimes: opts.CreationTimes}
	for _, res := range kinds.BuiltIn {
		if res.View == nil {
			s.collections[res] = store.NewCollection(res, &s.revision)
		}
	}
	s.revision.Store(beginning)
	s.pods = s.BuiltIn(corev1.SchemeGroupVersion, "pods")
	s.quotas = s.BuiltIn(corev1.SchemeGroupVersion, "resourcequotas")
	s.services = s.BuiltIn(corev1.SchemeGroupVersion, "services")
	s.clusterIPs, s.nodePorts = newClusterIPs(s.services), newNodePorts(s.services)
	s.namespaces = s.BuiltIn(corev1.SchemeGroupVersion, "namespaces")
	s.watchDefinitions()
	s.webhooks.Reviewed = opts.Reviewed
	s.webhooks.Watch(s.namespaces, s.BuiltIn(admissionregistrationv1.SchemeGroupVersion, "validatingwebhookconfigurations"),
		s.BuiltIn(admissionregistrationv1.SchemeGroupVersion, "mutatingwebhookconfigurations"), opts.ResolveService)
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic, corev1.NamespaceNodeLease} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		s.prepareNew(s.namespaces.Resource, ns)
		if _, err := s.namespaces.Write(watch.Added, nil, ns); err != nil {
			return nil, fmt.Errorf("creating namespace %s: %w", name, err)
		}
	}
	return s, nil
}

// BuiltIn returns the collection of a built-in resource.
func (s *State) BuiltIn(gv schema.GroupVersion, name string) *store.Collection {
	return s.collections[kinds.Find(gv, name)]
}

// Version returns the newest resourceVersion of all resources.
func (s *State) Version() uint64 { return s.revision.Load() }

// LoopbackEndpoints reports whether an EndpointSlice may have addresses in 127.0.0.0/8.
func (s *State) LoopbackEndpoints() bool { return s.loopback }

// Holds returns the number of objects of each resource that has any. The keys are names as kubectl
// writes them.
func (s *State) Holds() map[string]int {
	counts := map[string]int{}
	for c := range s.EveryCollection() {
		if n := c.Len(); n > 0 {
			counts[c.Resource.GroupResource().String()] = n
		}
	}
	return counts
}
