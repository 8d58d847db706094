package watch

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"

	"windtunnel.dev/controller/snapshot"
)

// Store contains the objects of the cluster that matter to this controller. It is a
// snapshot.Source. The objects that it returns belong to the informers; callers must not change
// them.
type Store struct {
	options Options
	events  record.EventRecorder
	log     *slog.Logger
	changes *Ring
	informers

	judging sync.Mutex // guards the decision whether an ingress is ours and accepted

	mu       sync.RWMutex
	accepted map[types.NamespacedName]*networkingv1.Ingress
	rejected map[types.NamespacedName]rejection // the newest versions, if they are rejected
	ledger   *snapshot.Ledger
}

// New returns an empty Store. Start fills it. The Store records Events in events.
func New(client kubernetes.Interface, options Options, events record.EventRecorder, log *slog.Logger) *Store {
	return &Store{
		options:   options,
		events:    events,
		log:       log,
		changes:   NewRing(ringSize),
		informers: newInformers(client, options),
		accepted:  map[types.NamespacedName]*networkingv1.Ingress{},
		rejected:  map[types.NamespacedName]rejection{},
		ledger:    snapshot.NewLedger(),
	}
}

// Start follows the cluster until ctx is done. It returns when the store is complete. Ingresses are
// read last, because the store decides whether an ingress is ours when it first sees it.
func (s *Store) Start(ctx context.Context) error {
	context.AfterFunc(ctx, s.changes.Close)
	first := []feed{
		{"Secret", s.secrets, handle(s, "Secret", s.secretRule())},
		{"EndpointSlice", s.slices, handle(s, "EndpointSlice", sliceRule())},
		{"IngressClass", s.classes, handle(s, "IngressClass", s.classRule())},
		{"Service", s.services, handle(s, "Service", serviceRule())},
		{"ConfigMap", s.configMaps, handle(s, "ConfigMap", s.configMapRule())},
	}
	for _, own := range s.ownConfigMaps {
		first = append(first, feed{"ConfigMap", own, handle(s, "ConfigMap", s.configMapRule())})
	}
	if s.namespaces != nil {
		first = append(first, feed{"Namespace", s.namespaces, handle(s, "Namespace", s.namespaceRule())})
	}
	if s.options.IgnoreClasses {
		first = slices.DeleteFunc(first, func(f feed) bool { return f.kind == "IngressClass" })
	}
	if err := follow(ctx, first...); err != nil {
		return err
	}
	s.warnOfMissing()
	return follow(ctx, feed{"Ingress", s.ingresses, handle(s, "Ingress", s.ingressRule())})
}

// warnOfMissing logs the controller's own ConfigMaps that do not exist. As in ingress-nginx, this
// is not an error: the defaults apply until they exist.
func (s *Store) warnOfMissing() {
	for _, name := range s.options.ConfigMaps {
		if s.ConfigMap(name) == nil {
			s.log.Warn("a ConfigMap that a flag names does not exist", "configmap", name)
		}
	}
}

// feed is an informer and the handler of its events.
type feed struct {
	kind     string
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandler
}

// follow starts the feeds and returns when all feeds have handled their first list.
func follow(ctx context.Context, feeds ...feed) error {
	synced := make([]cache.InformerSynced, len(feeds))
	for i, f := range feeds {
		registration, err := f.informer.AddEventHandler(f.handler)
		if err != nil {
			return fmt.Errorf("following %ss: %w", f.kind, err)
		}
		synced[i] = registration.HasSynced
		go f.informer.RunWithContext(ctx)
	}
	for i, f := range feeds {
		if !cache.WaitForCacheSync(ctx.Done(), synced[i]) {
			return fmt.Errorf("waiting for the first list of %ss: %w", f.kind, context.Cause(ctx))
		}
	}
	return nil
}

// Snapshot returns the contents of the store. Its cost depends on what changed since the last
// snapshot.
func (s *Store) Snapshot() snapshot.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	cluster := s.ledger.Snapshot()
	cluster.Rejected = s.rejections()
	return cluster
}

// Changes returns the ring of the store's changes.
func (s *Store) Changes() *Ring { return s.changes }

// Ingresses returns the accepted ingresses.
func (s *Store) Ingresses() []*networkingv1.Ingress {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Collect(maps.Values(s.accepted))
}

// Services returns the Services in all namespaces that the store follows.
func (s *Store) Services() []*corev1.Service { return list[corev1.Service](s.services) }

// EndpointSlices returns the EndpointSlices in all namespaces that the store follows.
func (s *Store) EndpointSlices() []*discoveryv1.EndpointSlice {
	return list[discoveryv1.EndpointSlice](s.slices)
}

// Secrets returns all Secrets except those of Helm.
func (s *Store) Secrets() []*corev1.Secret { return list[corev1.Secret](s.secrets) }

// Secret returns the Secret with a name; nil if Secrets does not contain it.
func (s *Store) Secret(name types.NamespacedName) *corev1.Secret {
	return get[corev1.Secret](s.secrets, name)
}

// ConfigMaps returns all ConfigMaps except those of Helm. It includes the controller's own, even if
// they are in another namespace.
func (s *Store) ConfigMaps() []*corev1.ConfigMap {
	all := list[corev1.ConfigMap](s.configMaps)
	for _, own := range s.ownConfigMaps {
		all = append(all, list[corev1.ConfigMap](own)...)
	}
	return all
}

// ConfigMap returns the ConfigMap with a name; nil if ConfigMaps does not contain it.
func (s *Store) ConfigMap(name types.NamespacedName) *corev1.ConfigMap {
	for _, informer := range append([]cache.SharedIndexInformer{s.configMaps}, s.ownConfigMaps...) {
		if config := get[corev1.ConfigMap](informer, name); config != nil {
			return config
		}
	}
	return nil
}

func get[T any](informer cache.SharedIndexInformer, name types.NamespacedName) *T {
	object, exists, err := informer.GetStore().GetByKey(name.String())
	if err != nil || !exists {
		return nil
	}
	return object.(*T)
}

func list[T any](informer cache.SharedIndexInformer) []*T {
	objects := informer.GetStore().List()
	typed := make([]*T, len(objects))
	for i, object := range objects {
		typed[i] = object.(*T)
	}
	return typed
}
