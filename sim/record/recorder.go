package record

import (
	"cmp"
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

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/follow"
	"windtunnel.dev/sim/scenario"
)

// Namespace is the namespace of all objects of a recording.
const Namespace = scenario.RecordedNamespace

// recorder is the state of a recording: the objects and changes so far.
type recorder struct {
	namer    namer
	running  bool // the initial state is complete; further events are changes
	services map[string]*service
	owners   map[types.NamespacedName]*service // of EndpointSlices
	hosts    map[string]corpus.Ingress         // by the recorded name of the host
	initial  []corpus.Ingress                  // the hosts of the initial state
	changes  []churn.Change
	omitted  map[string]int // counts of what was left out, by its description
}

// service is a service with its pods.
type service struct {
	corpus.Service
	ready   map[string][]string // addresses by the name of their EndpointSlice
	pods    map[string]string   // names by address
	initial []string            // pods of the initial state
	number  int                 // of the pod that was named last
}

func newRecorder(n namer) *recorder {
	return &recorder{
		namer: n, services: map[string]*service{}, owners: map[types.NamespacedName]*service{},
		hosts: map[string]corpus.Ingress{}, omitted: map[string]int{},
	}
}

// startRecording stores the initial state. Later events are changes.
func (r *recorder) startRecording() {
	r.running = true
	for _, s := range r.services {
		s.initial = slices.Sorted(maps.Values(s.pods))
	}
	for _, host := range slices.Sorted(maps.Keys(r.hosts)) {
		r.initial = append(r.initial, r.hosts[host])
	}
}

func (r *recorder) counts() (services, pods, hosts int) {
	for _, s := range r.services {
		pods += len(s.initial)
	}
	return len(r.services), pods, len(r.hosts)
}

// add records an event. Its time counts from the beginning of the recording.
func (r *recorder) add(e follow.Event, at time.Duration) {
	switch object := e.Object.(type) {
	case *corev1.Service:
		if e.Gone {
			r.countOmitted("deleted services")
			return
		}
		r.service(object.Namespace, object.Name)
	case *discoveryv1.EndpointSlice:
		r.endpoints(object, e.Gone, at)
	case *networkingv1.Ingress:
		switch {
		case e.Gone:
			r.countOmitted("deleted ingresses")
		case e.New && follow.IsCanary(object):
			// The pods of several services answer their requests, so answers do not show which changes are served.
			r.countOmitted("canary ingresses")
		case e.New:
			r.ingress(object, at)
		default:
			r.countOmitted("changed ingresses")
		}
	}
}

// countOmitted counts an event that a recording cannot express.
func (r *recorder) countOmitted(what string) { r.omitted[what]++ }

func (r *recorder) service(namespace, name string) *service {
	recorded := r.namer.service(namespace, name)
	if r.services[recorded] == nil {
		r.services[recorded] = &service{
			Service: corpus.Service{Namespace: Namespace, Name: recorded, Port: corpus.DefaultPort},
			ready:   map[string][]string{},
			pods:    map[string]string{},
		}
	}
	return r.services[recorded]
}

// endpoints stores the addresses of a slice, and records what changes in its service. If the slice belonged
// to another service before, that changes, too.
func (r *recorder) endpoints(object *discoveryv1.EndpointSlice, gone bool, at time.Duration) {
	of := object.Labels[discoveryv1.LabelServiceName]
	if of == "" || object.AddressType == discoveryv1.AddressTypeFQDN {
		return
	}
	name := types.NamespacedName{Namespace: object.Namespace, Name: object.Name}
	s := r.service(object.Namespace, of)
	if before := r.owners[name]; before != nil && before != s {
		delete(before.ready, object.Name)
		r.compare(before, at)
	}
	if r.owners[name] = s; gone {
		delete(r.owners, name)
		delete(s.ready, object.Name)
	} else {
		s.ready[object.Name] = ready(object)
	}
	r.compare(s, at)
}

// compare compares the addresses in all slices of a service with its pods, and records the difference.
func (r *recorder) compare(s *service, at time.Duration) {
	now := map[string]bool{}
	for _, addresses := range s.ready {
		for _, address := range addresses {
			now[address] = true
		}
	}
	change := churn.Change{ID: len(r.changes) + 1, At: at, Service: s.Key()}
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
	if r.running && len(change.Add)+len(change.Remove) > 0 {
		r.changes = append(r.changes, change)
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
func (r *recorder) ingress(object *networkingv1.Ingress, at time.Duration) {
	for _, rule := range object.Spec.Rules {
		host := r.namer.host(rule.Host)
		switch {
		case rule.Host == "" || strings.HasPrefix(rule.Host, "*"):
			r.countOmitted("rules without a specific host")
			continue
		case rule.HTTP == nil:
			r.countOmitted("rules without a path")
			continue
		}
		one, known := r.hosts[host]
		if !known {
			one = corpus.Ingress{Name: host, Host: host}
		}
		var to string
		for _, path := range rule.HTTP.Paths {
			text := cmp.Or(path.Path, "/") // as controllers read it
			if path.Backend.Service == nil || !plain.MatchString(text) {
				r.countOmitted("paths that are patterns or have no service")
				continue
			}
			s, prefix := r.service(object.Namespace, path.Backend.Service.Name), r.namer.path(text)
			if slices.ContainsFunc(one.Paths, func(p corpus.Path) bool { return p.Prefix == prefix }) {
				r.countOmitted("paths that their host has already")
				continue
			}
			one.Paths = append(one.Paths, corpus.Path{Prefix: prefix, Service: s.Name})
			if to == "" {
				to = s.Key()
			}
		}
		switch {
		case to == "":
		case r.running && known:
			r.countOmitted("further ingresses of a host")
		case r.running:
			for range one.Paths[1:] {
				r.countOmitted("further paths of new hosts")
			}
			r.hosts[host] = one
			r.changes = append(r.changes, churn.Change{ID: len(r.changes) + 1, At: at, Service: to, Host: host})
		default:
			r.hosts[host] = one
		}
	}
}

// recording returns the recording, with its length.
func (r *recorder) recording(length time.Duration) churn.Recording {
	population := corpus.Population{Namespace: Namespace, Ingresses: r.initial}
	for _, name := range slices.Sorted(maps.Keys(r.services)) {
		s := r.services[name].Service
		s.Pods = r.services[name].initial
		population.Services = append(population.Services, s)
	}
	return churn.Recording{Population: population, Stream: churn.Stream{Length: length, Changes: r.changes}, Left: r.omitted}
}
