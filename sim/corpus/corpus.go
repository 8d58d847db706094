// Package corpus describes populations: services, their pods, and the ingresses that route to them. It
// generates them from the shape in a scenario, as objects for the API server and names for simulated
// pods. Its one rule: the same shape gives the same population, bit for bit.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	networkingv1 "k8s.io/api/networking/v1"
)

// DefaultPort is the default port of pods.
const DefaultPort = 8080

// Shape has the parameters of a population.
type Shape struct {
	Namespace string
	Services  int
	Pods      int // per service
	Ingresses int // distributed over the services
	Seed      uint64
	Port      int32 // that pods listen on; 0 means DefaultPort
	// TLS gives each ingress its own certificate for its host.
	TLS bool
	// StreamPort is the port on which pods answer over plain TCP and UDP; 0 means none.
	StreamPort int32
	// Annotations are the annotations of each ingress.
	Annotations map[string]string
	// Class is the class of the ingresses; "" means IngressClass.
	Class string
	// Paths is the number of further paths of each ingress, see Ingress.Further.
	Paths int
}

// Population has the services and ingresses of a cluster when a run begins.
type Population struct {
	Namespace string    `json:"namespace"`
	Services  []Service `json:"services"`
	Ingresses []Ingress `json:"ingresses"`
	TLS       bool      `json:"tls,omitempty"`
	Class     string    `json:"class,omitempty"` // of the ingresses; "" means IngressClass

	Cluster *Cluster `json:"-"` // of an imported population; nil: it was generated or recorded
}

// Service is a service with its initial pods.
type Service struct {
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Port      int32    `json:"port"` // that its pods listen on
	Pods      []string `json:"pods"` // names, without the namespace

	StreamPort int32 `json:"streamPort,omitempty"` // of its pods, for plain TCP and UDP; 0 means none

	Imported *Imported `json:"-"` // of an imported population
}

// Key returns namespace/name.
func (s Service) Key() string { return s.Namespace + "/" + s.Name }

// Ingress routes the paths of one host.
type Ingress struct {
	Name  string `json:"name"`
	Host  string `json:"host"`
	Paths []Path `json:"paths"`

	Annotations map[string]string `json:"annotations,omitempty"`
	Class       string            `json:"class,omitempty"` // "" means IngressClass
	// Further is the number of further paths, /path-1, /path-2 …, to the service of the first path. They
	// are not targets.
	Further int `json:"further,omitempty"`
}

// Path routes paths that begin with Prefix to a service of the same namespace.
type Path struct {
	Prefix  string `json:"prefix"`
	Service string `json:"service"`

	Port networkingv1.ServiceBackendPort `json:"-"` // of the service; zero means that of generated services
}

// Target is a URL of a population, and the service that answers it.
type Target struct {
	Host    string
	Path    string
	Service string // namespace/name
	TLS     bool   // requests use HTTPS, with the host as the server name
}

// URL returns the URL of the target.
func (t Target) URL() string {
	if t.TLS {
		return "https://" + t.Host + t.Path
	}
	return "http://" + t.Host + t.Path
}

// The random streams of a seed. Each part of a population has its own stream, so that, for example,
// more ingresses do not change the names of the pods.
const (
	podStream = iota + 1
	pathStream
)

// Generate returns the population of a shape. Ingress i routes its host to service i, modulo the
// number of services. One ingress in four has a second path, to a random service.
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
			Further:     shape.Paths,
		}
		if chance.IntN(4) == 0 {
			ingress.Paths = append(ingress.Paths, Path{Prefix: "/api", Service: services[chance.IntN(len(services))].Name})
		}
		all = append(all, ingress)
	}
	return all
}

// Targets returns all URLs of the population that its pods answer, in the order of its ingresses.
func (p Population) Targets() []Target {
	if p.Cluster != nil {
		return p.Cluster.Targets
	}
	var targets []Target
	for _, ingress := range p.Ingresses {
		for _, path := range ingress.Paths {
			targets = append(targets, Target{Host: ingress.Host, Path: path.Prefix, Service: p.Namespace + "/" + path.Service})
		}
	}
	return targets
}

// Routed returns the services that an ingress routes to, by namespace/name.
func (p Population) Routed() map[string]bool {
	routed := map[string]bool{}
	for _, target := range p.Targets() {
		routed[target.Service] = true
	}
	return routed
}
