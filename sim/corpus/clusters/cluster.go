// Package clusters generates realistic clusters: ingresses with the annotations, certificates,
// paths and mistakes of many applications, and the objects that they refer to. Its one rule: the same
// size and seed give the same bytes on every machine.
package clusters

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/manifest"
)

// Smallest and Largest limit the number of ingresses of a cluster.
const (
	Smallest = 1
	Largest  = 20000
)

// Cluster is a generated cluster.
type Cluster struct {
	Objects []runtime.Object
	// Flags are the flags that a controller needs to read all of the cluster, such as
	// --configmap=namespace/name.
	Flags []string
	// Findings are all findings that the controller must report, one for each broken object.
	Findings []Finding
}

// Finding is a report that a broken object must cause.
type Finding struct {
	Object string `json:"object"`        // Kind namespace/name
	Key    string `json:"key,omitempty"` // the field of the object; empty for the whole object
	Why    string `json:"why"`           // what is broken
}

// Generate returns a cluster with the given number of ingresses.
func Generate(size int, seed uint64) Cluster {
	g := &generator{
		seed:    seed,
		size:    size,
		chance:  rand.New(rand.NewPCG(seed, uint64(size))),
		secrets: make(map[string]bool),
	}
	g.begin()
	for n := 0; len(g.ingresses) < size; n++ {
		g.application(n)
	}
	return Cluster{Objects: g.all(), Flags: g.flags, Findings: g.findings}
}

// Manifests returns the cluster as one file of YAML documents.
func (c Cluster) Manifests() ([]byte, error) {
	var text bytes.Buffer
	if err := manifest.Write(&text, c.Objects); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// generator collects the objects of a cluster.
type generator struct {
	seed       uint64
	size       int
	chance     *rand.Rand // for the cluster as a whole
	namespaces []string
	domains    []string
	secrets    map[string]bool // shared ones that exist, by namespace/name
	pods       uint32          // addresses in use
	slices     int

	first     []runtime.Object // classes and the controller's own objects
	backends  []runtime.Object // Services, EndpointSlices, Secrets and ConfigMaps
	ingresses []*networkingv1.Ingress
	flags     []string
	findings  []Finding
}

func (g *generator) all() []runtime.Object {
	all := append(append([]runtime.Object{}, g.first...), g.backends...)
	for _, ingress := range g.ingresses {
		all = append(all, ingress)
	}
	return all
}

func (g *generator) add(objects ...runtime.Object) { g.backends = append(g.backends, objects...) }

// teams are the names of namespaces, together with a stage.
var teams = []string{
	"checkout", "catalog", "search", "identity", "billing", "shipping", "media", "mobile", "partner", "reporting",
	"inventory", "pricing", "support", "marketing", "payments", "platform", "data", "mail", "docs", "intranet",
}

var stages = []string{"", "-staging", "-dev", "-preview", "-test", "-demo"}

var domains = []string{"example.com", "example.org", "example.net", "corp.example"}

// begin chooses the domains and namespaces. A namespace has about twelve ingresses.
func (g *generator) begin() {
	g.domains = domains[:1+g.chance.IntN(len(domains))]
	for n := range max(1, g.size/12) {
		name := teams[n%len(teams)] + stages[n/len(teams)%len(stages)]
		if round := n / len(teams) / len(stages); round > 0 {
			name = fmt.Sprintf("%s-%d", name, round+1)
		}
		g.namespaces = append(g.namespaces, name)
	}
	g.addClasses()
	g.addConfig()
}

// percent reports true with a probability of p percent.
func percent(chance *rand.Rand, p float64) bool { return chance.Float64()*100 < p }

// oneOf returns one of several values, all with the same probability.
func oneOf[T any](chance *rand.Rand, values ...T) T { return values[chance.IntN(len(values))] }
