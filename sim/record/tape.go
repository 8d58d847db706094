package record

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/scenario"
)

// Namespace is the namespace of all objects of a recording.
const Namespace = scenario.RecordedNamespace

// tape is the state of a recording: the objects and changes so far.
type tape struct {
	namer    namer
	running  bool // the initial state is complete; further events are changes
	services map[string]*service
	slices   map[types.NamespacedName]slice
	hosts    map[string]corpus.Ingress // by the recorded name of the host
	begun    []corpus.Ingress          // the hosts of the initial state
	changes  []churn.Change
	left     map[string]int // counts of what was left out, by its description
}

// service is a service with its pods.
type service struct {
	corpus.Service
	pods   map[string]string // names by address
	begun  []string          // pods of the initial state
	number int               // of the pod that was named last
}

// slice is the last known state of an EndpointSlice.
type slice struct {
	service string
	ready   []string // addresses
}

func newTape(n namer) *tape {
	return &tape{
		namer: n, services: map[string]*service{}, slices: map[types.NamespacedName]slice{},
		hosts: map[string]corpus.Ingress{}, left: map[string]int{},
	}
}

// first adds events until the informers have sent the initial state.
func (t *tape) first(ctx context.Context, from <-chan news, synced []cache.InformerSynced) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case n := <-from:
			t.add(n, 0)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			all := !slices.ContainsFunc(synced, func(f cache.InformerSynced) bool { return !f() })
			if all && len(from) == 0 {
				t.begin()
				return nil
			}
		}
	}
}

// begin stores the initial state. Later events are changes.
func (t *tape) begin() {
	t.running = true
	for _, s := range t.services {
		s.begun = slices.Sorted(maps.Values(s.pods))
	}
	for _, host := range slices.Sorted(maps.Keys(t.hosts)) {
		t.begun = append(t.begun, t.hosts[host])
	}
}

func (t *tape) counts() (services, pods, hosts int) {
	for _, s := range t.services {
		pods += len(s.begun)
	}
	return len(t.services), pods, len(t.hosts)
}

// add records an event. Its time counts from the beginning of the recording.
func (t *tape) add(n news, at time.Duration) {
	switch object := n.object.(type) {
	case *corev1.Service:
		if n.gone {
			t.leave("deleted services")
			return
		}
		t.service(object.Namespace, object.Name)
	case *discoveryv1.EndpointSlice:
		t.endpoints(object, n.gone, at)
	case *networkingv1.Ingress:
		switch {
		case n.gone:
			t.leave("deleted ingresses")
		case n.isNew:
			t.ingress(object, at)
		default:
			t.leave("changed ingresses")
		}
	}
}

// leave counts an event that a recording cannot express.
func (t *tape) leave(what string) { t.left[what]++ }

func (t *tape) service(namespace, name string) *service {
	recorded := t.namer.service(namespace, name)
	if t.services[recorded] == nil {
		t.services[recorded] = &service{
			Service: corpus.Service{Namespace: Namespace, Name: recorded, Port: corpus.DefaultPort},
			pods:    map[string]string{},
		}
	}
	return t.services[recorded]
}

// endpoints compares the addresses in all slices of a service with its pods, and records the
// difference.
func (t *tape) endpoints(object *discoveryv1.EndpointSlice, gone bool, at time.Duration) {
	name := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	of := object.Labels[discoveryv1.LabelServiceName]
	if of == "" || object.AddressType == discoveryv1.AddressTypeFQDN {
		return
	}
	s := t.service(object.Namespace, of)
	delete(t.slices, name)
	if !gone {
		t.slices[name] = slice{s.Name, ready(object)}
	}
	now := map[string]bool{}
	for _, one := range t.slices {
		if one.service == s.Name {
			for _, address := range one.ready {
				now[address] = true
			}
		}
	}
	change := churn.Change{ID: len(t.changes) + 1, At: at, Service: s.Key()}
	for _, address := range slices.Sorted(maps.Keys(s.pods)) {
		if !now[address] {
			change.Remove = append(change.Remove, s.pods[address])
			delete(s.pods, address)
		}
	}
	for _, address := range slices.Sorted(maps.Keys(now)) {
		if s.pods[address] == "" {
			s.number++
			s.pods[address] = fmt.Sprintf("%s-%d", s.Name, s.number)
			change.Add = append(change.Add, s.pods[address])
		}
	}
	if t.running && len(change.Add)+len(change.Remove) > 0 {
		t.changes = append(t.changes, change)
	}
}

func ready(s *discoveryv1.EndpointSlice) (addresses []string) {
	for _, endpoint := range s.Endpoints {
		if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
			addresses = append(addresses, endpoint.Addresses...)
		}
	}
	return addresses
}

// plain matches literal paths, which are not patterns.
var plain = regexp.MustCompile(`^/[A-Za-z0-9/_.~-]*$`)

// ingress records the hosts of a new ingress.
func (t *tape) ingress(object *networkingv1.Ingress, at time.Duration) {
	for _, rule := range object.Spec.Rules {
		host := t.namer.host(rule.Host)
		switch {
		case rule.Host == "" || strings.HasPrefix(rule.Host, "*"):
			t.leave("rules without a specific host")
			continue
		case rule.HTTP == nil:
			t.leave("rules without a path")
			continue
		}
		one, known := t.hosts[host]
		if !known {
			one = corpus.Ingress{Name: host, Host: host}
		}
		var to string
		for _, path := range rule.HTTP.Paths {
			if path.Backend.Service == nil || !plain.MatchString(path.Path) {
				t.leave("paths that are patterns or have no service")
				continue
			}
			s := t.service(object.Namespace, path.Backend.Service.Name)
			one.Paths = append(one.Paths, corpus.Path{Prefix: t.namer.path(path.Path), Service: s.Name})
			if to == "" {
				to = s.Key()
			}
		}
		switch {
		case to == "":
		case t.running && known:
			t.leave("further ingresses of a host")
		case t.running:
			t.hosts[host] = one
			t.changes = append(t.changes, churn.Change{ID: len(t.changes) + 1, At: at, Service: to, Host: host})
		default:
			t.hosts[host] = one
		}
	}
}

// recording returns the recording, with its length.
func (t *tape) recording(length time.Duration) churn.Recording {
	population := corpus.Population{Namespace: Namespace, Ingresses: t.begun}
	for _, name := range slices.Sorted(maps.Keys(t.services)) {
		s := t.services[name].Service
		s.Pods = t.services[name].begun
		population.Services = append(population.Services, s)
	}
	return churn.Recording{Population: population, Stream: churn.Stream{Length: length, Changes: t.changes}, Left: t.left}
}
