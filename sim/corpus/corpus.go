// Package corpus makes populations: services, their pods, and the ingresses
// that route to them. It stands between the shape that a scenario asks for and
// the API server and simulated pods that are filled with it. Its one rule: the
// same shape gives the same population, bit for bit.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// DefaultPort is the port that pods listen on unless a shape says otherwise.
const DefaultPort = 8080

// Shape is what a population is like.
type Shape struct {
	Namespace string
	Services  int
	Pods      int // of each service
	Ingresses int // dealt out over the services
	Seed      uint64
	Port      int32 // that pods listen on; 0: DefaultPort
	// TLS gives each ingress a certificate of its own for its host.
	TLS bool
	// StreamPort is that at which pods answer over TCP and UDP themselves; 0: none do.
	StreamPort int32
	// Annotations are on each ingress.
	Annotations map[string]string
	// Class is that of the ingresses; empty: IngressClass.
	Class string
}

// Population is what is in the cluster when a run begins.
type Population struct {
	Namespace string    `json:"namespace"`
	Services  []Service `json:"services"`
	Ingresses []Ingress `json:"ingresses"`
	TLS       bool      `json:"tls,omitempty"`
	Class     string    `json:"class,omitempty"` // of the ingresses; empty: IngressClass
}

// Service is a service and the pods that it has at first.
type Service struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Port      int32    `json:"port"` // that its pods listen on
	Pods      []string `json:"pods"` // names, without the namespace

	StreamPort int32 `json:"streamPort,omitempty"` // of its pods, for TCP and UDP themselves; 0: none
}

// Key is namespace/name.
func (s Service) Key() string { return s.Namespace + "/" + s.Name }

// Ingress routes the paths of one host.
type Ingress struct {
	Name  string `json:"name"`
	Host  string `json:"host"`
	Paths []Path `json:"paths"`

	Annotations map[string]string `json:"annotations,omitempty"`
	Class       string            `json:"class,omitempty"` // empty: IngressClass
}

// Path routes what begins with Prefix to a service of the same namespace.
type Path struct {
	Prefix  string `json:"prefix"`
	Service string `json:"service"`
}

// Target is a URL that a population answers, and the service which does.
type Target struct {
	Host    string
	Path    string
	Service string // namespace/name
}

// The streams of chance that a seed gives. Each part of a population has its
// own, so that more ingresses, say, do not change the names of the pods.
const (
	podStream = iota + 1
	pathStream
)

// Generate makes the population of a shape. Ingress i routes its host to
// service i, modulo their number; one ingress in four has a second path, to a
// service that chance picks.
func Generate(shape Shape) Population {
	p := Population{Namespace: shape.Namespace, TLS: shape.TLS, Class: shape.Class}
	names := NewNames(rand.New(rand.NewPCG(shape.Seed, podStream)))
	port := shape.Port
	if port == 0 {
		port = DefaultPort
	}
	width := max(3, len(strconv.Itoa(shape.Services-1)))
	for i := range shape.Services {
		service := Service{Namespace: shape.Namespace, Name: fmt.Sprintf("svc-%0*d", width, i), Port: port, StreamPort: shape.StreamPort}
		for range shape.Pods {
			service.Pods = append(service.Pods, names.Pod(service.Name))
		}
		p.Services = append(p.Services, service)
	}
	if shape.Services > 0 {
		p.Ingresses = ingresses(p.Services, shape)
	}
	return p
}

func ingresses(services []Service, shape Shape) []Ingress {
	chance := rand.New(rand.NewPCG(shape.Seed, pathStream))
	var all []Ingress
	for i := range shape.Ingresses {
		service := services[i%len(services)].Name
		name := service
		if again := i / len(services); again > 0 {
			name = fmt.Sprintf("%s-%d", service, again)
		}
		ingress := Ingress{
			Name:  name,
			Host:  fmt.Sprintf("%s.%s.example", name, shape.Namespace),
			Paths: []Path{{Prefix: "/", Service: service}},

			Annotations: shape.Annotations,
			Class:       shape.Class,
		}
		if chance.IntN(4) == 0 {
			ingress.Paths = append(ingress.Paths, Path{Prefix: "/api", Service: services[chance.IntN(len(services))].Name})
		}
		all = append(all, ingress)
	}
	return all
}

// Targets are all URLs that the population answers, in the order of its
// ingresses.
func (p Population) Targets() []Target {
	var targets []Target
	for _, ingress := range p.Ingresses {
		for _, path := range ingress.Paths {
			targets = append(targets, Target{Host: ingress.Host, Path: path.Prefix, Service: p.Namespace + "/" + path.Service})
		}
	}
	return targets
}

// Routed are the services that an ingress routes to, by namespace/name.
func (p Population) Routed() map[string]bool {
	routed := map[string]bool{}
	for _, target := range p.Targets() {
		routed[target.Service] = true
	}
	return routed
}
