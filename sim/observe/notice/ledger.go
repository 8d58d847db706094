// Package notice turns observations of a cluster into events and numbers: objects into changes,
// metrics into samples, and a whole observation into a similar scenario. Its one rule: it is pure;
// package observe talks to the cluster.
package notice

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/follow"
	"windtunnel.dev/sim/scenario"
)

// Steps of changes that have no counterpart among the kinds of churn.
const (
	ScaleIn        = "scale-in"        // pods left a service, and none joined it
	IngressChanged = "ingress-changed" // its spec or its annotations
	IngressRemoved = "ingress-removed"
	ServiceChanged = "service-changed" // its ports, type or external name
)

// Ledger tracks the routed services of a cluster and their pods. It is not safe for concurrent use.
type Ledger struct {
	class     string // of the ingresses that count; "" means all
	hosts     []Host
	ingresses map[types.NamespacedName]*networkingv1.Ingress
	services  map[types.NamespacedName]*corev1.Service
	slices    map[types.NamespacedName]map[string][]string // the ready pods of each slice, by service and name
	pods      map[types.NamespacedName][]string            // the ready pods of each service, sorted
	routes    map[types.NamespacedName]int                 // how often ingresses name each service
	names     map[string]int                               // how often ingresses name each host
	begun     bool
	steps     map[string]int
	ignored   int
	changes   int
}

// NewLedger returns a Ledger of the ingresses of a class, or of all if class is "". The answers of hosts
// can show changes.
func NewLedger(class string, hosts []Host) *Ledger {
	return &Ledger{
		class: class, hosts: hosts, ingresses: map[types.NamespacedName]*networkingv1.Ingress{}, services: map[types.NamespacedName]*corev1.Service{},
		slices: map[types.NamespacedName]map[string][]string{}, pods: map[types.NamespacedName][]string{}, steps: map[string]int{},
		routes: map[types.NamespacedName]int{}, names: map[string]int{},
	}
}

// Begin ends the initial state: later objects are changes.
func (l *Ledger) Begin() { l.begun = true }

// Steps returns how many changes of each kind there were.
func (l *Ledger) Steps() map[string]int { return maps.Clone(l.steps) }

// Ignored returns how many changes of endpoints belonged to services that no ingress routes to.
func (l *Ledger) Ignored() int { return l.ignored }

// Size is the size of a cluster.
type Size struct{ Ingresses, Services, Pods int }

// Size counts the ingresses, and the services and pods that they route to.
func (l *Ledger) Size() Size {
	size := Size{Ingresses: len(l.ingresses)}
	for service := range l.routes {
		size.Services++
		size.Pods += len(l.pods[service])
	}
	return size
}

// Add records an object that the API reported at a time. It returns the resulting change for the
// controller, or nil if there is none.
func (l *Ledger) Add(object any, gone bool, now time.Time) *event.Change {
	var change *event.Change
	switch o := object.(type) {
	case *corev1.Service:
		change = l.service(o, gone)
	case *discoveryv1.EndpointSlice:
		change = l.endpoints(o, gone)
	case *networkingv1.Ingress:
		change = l.ingress(o, gone)
	}
	if change == nil || !l.begun {
		return nil
	}
	if about, ok := object.(metav1.Object); ok && !gone {
		change.Late = lateness(about, now)
	}
	l.changes++
	change.ID = l.changes
	l.steps[change.Step]++
	return change
}

// lateness returns how long before now the API server stored an object, with a precision of a
// second, or 0 if the object does not say.
func lateness(object metav1.Object, now time.Time) time.Duration {
	stored := object.GetCreationTimestamp().Time
	for _, field := range object.GetManagedFields() {
		if field.Time != nil && field.Time.After(stored) {
			stored = field.Time.Time
		}
	}
	if stored.IsZero() {
		return 0
	}
	return max(0, now.Sub(stored))
}

func (l *Ledger) service(o *corev1.Service, gone bool) *event.Change {
	name := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	before := l.services[name]
	if gone {
		delete(l.services, name)
	} else {
		l.services[name] = o
	}
	if before == nil || l.routes[name] == 0 || !gone && reflect.DeepEqual(before.Spec, o.Spec) {
		return nil
	}
	return &event.Change{Step: ServiceChanged, Object: "Service " + name.String(), Service: name.String()}
}

// endpoints compares the pods in all slices of a service with those before.
func (l *Ledger) endpoints(o *discoveryv1.EndpointSlice, gone bool) *event.Change {
	of := types.NamespacedName{Namespace: o.Namespace, Name: o.Labels[discoveryv1.LabelServiceName]}
	if of.Name == "" || o.AddressType == discoveryv1.AddressTypeFQDN {
		return nil
	}
	if l.slices[of] == nil {
		l.slices[of] = map[string][]string{}
	}
	l.slices[of][o.Name] = readyPods(o)
	if gone {
		delete(l.slices[of], o.Name)
	}
	before, now := l.pods[of], l.podsOf(of)
	l.pods[of] = now
	added, removed := missingFrom(before, now), missingFrom(now, before)
	if len(added)+len(removed) == 0 {
		return nil
	}
	if l.routes[of] == 0 {
		if l.begun {
			l.ignored++
		}
		return nil
	}
	change := &event.Change{
		Step: stepOf(added, removed), Object: "EndpointSlice " + o.Namespace + "/" + o.Name, Service: of.String(),
		Added: added, Removed: removed, Pods: len(now),
	}
	if host := l.hostOf(of); host != nil {
		change.Host, change.Path, change.TLS = host.Name, host.Path, host.TLS
	}
	return change
}

func (l *Ledger) podsOf(service types.NamespacedName) (all []string) {
	for _, pods := range l.slices[service] {
		all = append(all, pods...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func readyPods(o *discoveryv1.EndpointSlice) (pods []string) {
	for _, endpoint := range o.Endpoints {
		switch ready := endpoint.Conditions.Ready; {
		case ready != nil && !*ready:
		case endpoint.TargetRef != nil:
			pods = append(pods, cmp.Or(endpoint.TargetRef.Namespace, o.Namespace)+"/"+endpoint.TargetRef.Name)
		default:
			pods = append(pods, endpoint.Addresses...)
		}
	}
	return pods
}

// missingFrom returns the names in all that are not in some. Both are sorted.
func missingFrom(some, all []string) (missing []string) {
	for _, name := range all {
		if _, found := slices.BinarySearch(some, name); !found {
			missing = append(missing, name)
		}
	}
	return missing
}

func stepOf(added, removed []string) string {
	switch {
	case len(removed) == 0:
		return scenario.ScaleOut
	case len(added) == 0:
		return ScaleIn
	}
	return scenario.RollingUpdate
}

// ingress compares an ingress with its earlier state. It ignores changes of the status.
func (l *Ledger) ingress(o *networkingv1.Ingress, gone bool) *event.Change {
	name := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
	before := l.ingresses[name]
	if l.class != "" && classOf(o) != l.class {
		if before == nil {
			return nil
		}
		gone = true // for the controller, because the class changed
	}
	isNew := before == nil && l.hasNewHost(o)
	l.put(name, before, o, gone)
	change := &event.Change{Step: IngressChanged, Object: "Ingress " + name.String()}
	switch {
	case gone:
		change.Step = IngressRemoved
	case before != nil && reflect.DeepEqual(before.Spec, o.Spec) && maps.Equal(before.Annotations, o.Annotations):
		return nil
	case isNew:
		change.Step = scenario.NewHosts
		l.watchNewHost(change, o)
	}
	return change
}

// put replaces an ingress, and counts its services and hosts.
func (l *Ledger) put(name types.NamespacedName, before, now *networkingv1.Ingress, gone bool) {
	if before != nil {
		l.count(before, -1)
		delete(l.ingresses, name)
	}
	if !gone {
		l.count(now, 1)
		l.ingresses[name] = now
	}
}

func (l *Ledger) count(o *networkingv1.Ingress, by int) {
	for _, backend := range backends(o) {
		if backend.Service != nil {
			add(l.routes, types.NamespacedName{Namespace: o.Namespace, Name: backend.Service.Name}, by)
		}
	}
	for _, rule := range o.Spec.Rules {
		add(l.names, strings.ToLower(rule.Host), by)
	}
}

func add[K comparable](counts map[K]int, key K, by int) {
	if counts[key] += by; counts[key] == 0 {
		delete(counts, key)
	}
}

func classOf(o *networkingv1.Ingress) string {
	if o.Spec.IngressClassName != nil {
		return *o.Spec.IngressClassName
	}
	return o.Annotations["kubernetes.io/ingress.class"]
}

func (l *Ledger) hasNewHost(o *networkingv1.Ingress) bool {
	return slices.ContainsFunc(o.Spec.Rules, func(rule networkingv1.IngressRule) bool {
		return rule.Host != "" && l.names[strings.ToLower(rule.Host)] == 0
	})
}

// watchNewHost sets the host and answer by which the change is confirmed, if the user names the host.
func (l *Ledger) watchNewHost(change *event.Change, o *networkingv1.Ingress) {
	for _, host := range l.hosts {
		service, _, ok := match(o, host)
		if !ok {
			continue
		}
		change.Host, change.Path, change.TLS = host.Name, host.Path, host.TLS
		change.Service = service.String()
		change.Confirmation = &event.Confirmation{Service: service.String(), Status: 200}
		return
	}
}

func backends(o *networkingv1.Ingress) (all []networkingv1.IngressBackend) {
	if o.Spec.DefaultBackend != nil {
		all = append(all, *o.Spec.DefaultBackend)
	}
	for _, rule := range o.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			all = append(all, path.Backend)
		}
	}
	return all
}

// hostOf returns the first host whose answers show the pods of a service, or nil if there is none.
func (l *Ledger) hostOf(service types.NamespacedName) *Host {
	for i, host := range l.hosts {
		if to, ok := l.ServiceOf(host); host.Identified && ok && to == service {
			return &l.hosts[i]
		}
	}
	return nil
}

// ServiceOf returns the service that a host and path are routed to. As in controllers, the oldest of
// several ingresses for a path wins, and canaries do not count.
func (l *Ledger) ServiceOf(host Host) (types.NamespacedName, bool) {
	var best types.NamespacedName
	var of *networkingv1.Ingress
	longest := -1
	for _, o := range l.ingresses {
		to, length, ok := match(o, host)
		if ok && !follow.IsCanary(o) && (length > longest || length == longest && older(o, of)) {
			best, of, longest = to, o, length
		}
	}
	return best, of != nil
}

// older reports whether an ingress was created before another one. The name breaks ties.
func older(a, b *networkingv1.Ingress) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) < 0
}

// match returns the service of the longest path of an ingress that covers a host and path.
func match(o *networkingv1.Ingress, host Host) (to types.NamespacedName, longest int, ok bool) {
	longest = -1
	for _, rule := range o.Spec.Rules {
		if !strings.EqualFold(rule.Host, host.Name) || rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			if path.Backend.Service != nil && covers(path, cmp.Or(host.Path, "/")) && len(path.Path) > longest {
				to, longest, ok = types.NamespacedName{Namespace: o.Namespace, Name: path.Backend.Service.Name}, len(path.Path), true
			}
		}
	}
	return to, longest, ok
}

// covers reports whether a path of an ingress serves a path of requests.
func covers(path networkingv1.HTTPIngressPath, asked string) bool {
	asked, _, _ = strings.Cut(asked, "?")
	if path.PathType != nil && *path.PathType == networkingv1.PathTypeExact {
		return asked == path.Path
	}
	prefix := strings.TrimSuffix(path.Path, "/")
	return asked == prefix || strings.HasPrefix(asked, prefix+"/")
}
