package clusters

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// application is a service of a team, with its ingress.
type application struct {
	g         *generator
	chance    *rand.Rand // its own, so that a feature of one application does not change the others
	namespace string
	name      string
	host      string
	shared    bool // other applications have the same host
	regex     bool // the paths are regular expressions
	tls       bool
	service   *corev1.Service
	ingress   *networkingv1.Ingress
}

var components = []string{
	"web", "api", "admin", "auth", "gateway", "frontend", "backend", "worker", "dashboard", "console", "portal", "feed", "events", "hooks",
	"uploads", "static", "graphql", "grpc", "metrics", "status", "blog", "shop", "cart", "users", "orders", "files", "images", "chat", "proxy", "legacy",
}

// brokenEvery is how many applications there are for each broken one.
const brokenEvery = 30

// application adds application n.
func (g *generator) application(n int) {
	a := &application{g: g, chance: rand.New(rand.NewPCG(g.seed, 1<<32+uint64(n)))}
	a.namespace = g.namespaces[a.chance.IntN(len(g.namespaces))]
	a.name = fmt.Sprintf("%s-%d", oneOf(a.chance, components...), n)
	isBroken := n%brokenEvery == brokenEvery-1
	a.chooseHost(isBroken)
	a.addIngress()
	if isBroken {
		kind := (uint64(n/brokenEvery) + g.seed) % uint64(len(mistakes))
		key := mistakes[kind].make(a)
		g.findings = append(g.findings, Finding{Object: a.object(), Key: key, Why: mistakes[kind].Name})
		return
	}
	a.secure()
	for _, f := range features {
		if f.fits(a) && percent(a.chance, f.Percent) {
			f.apply(a)
		}
	}
	if !a.shared && a.host != "" && len(g.ingresses) < g.size && percent(a.chance, canaryPercent) {
		a.addCanary()
	}
}

// The shares of hosts, in percent of the applications; the others have a host of their own.
const (
	sharedHostPercent   = 18 // a path below the API host of the team
	wildcardHostPercent = 3
	longHostPercent     = 2
)

func (a *application) chooseHost(own bool) {
	domain := a.g.domains[len(a.namespace)%len(a.g.domains)]
	team := a.namespace + "." + domain
	kind := a.chance.Float64() * 100
	switch {
	case own || kind >= sharedHostPercent+wildcardHostPercent+longHostPercent:
		a.host = a.name + "." + team
	case kind < sharedHostPercent:
		a.host, a.shared = "api."+team, true
	case kind < sharedHostPercent+wildcardHostPercent:
		a.host = "*." + a.name + "." + team
	default:
		a.host = a.name + ".customer-facing-environment.eu-central-1.clusters.internal." + team
	}
}

// began is the creation time of the first ingress of a cluster. Each further one is an hour younger.
var began = time.Date(2021, 3, 1, 8, 0, 0, 0, time.UTC)

func (a *application) newIngress(name string) *networkingv1.Ingress {
	return &networkingv1.Ingress{
		TypeMeta: metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "Ingress"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.namespace, Name: name, Annotations: map[string]string{},
			CreationTimestamp: metav1.NewTime(began.Add(time.Duration(len(a.g.ingresses)) * time.Hour)),
		},
		Spec: networkingv1.IngressSpec{IngressClassName: new(className)},
	}
}

func (a *application) addIngress() {
	a.service = a.addService(a.name)
	a.ingress = a.newIngress(a.name)
	rule := networkingv1.IngressRule{Host: a.host}
	rule.HTTP = &networkingv1.HTTPIngressRuleValue{Paths: a.paths()}
	a.ingress.Spec.Rules = []networkingv1.IngressRule{rule}
	a.g.ingresses = append(a.g.ingresses, a.ingress)
}

// object returns the name of the ingress in findings.
func (a *application) object() string { return "Ingress " + a.namespace + "/" + a.ingress.Name }

// set sets an annotation of the controller.
func (a *application) set(name, value string) { a.ingress.Annotations[prefix+name] = value }

// has reports whether one of the annotations is set.
func (a *application) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return a.ingress.Annotations[prefix+name] != "" })
}

// segments are the parts of longer paths.
var segments = []string{"v1", "v2", "public", "internal", "customers", "orders", "documents", "search", "assets", "webhooks", "callback", "reports", "health", "oauth2", "upload-sessions", "a-rather-long-segment-of-a-path"}

// paths returns 1 path for 70 %, 2 or 3 for 20 %, and 4 to 12 for 10 % of the applications. 5 % of
// the further paths have 6 to 12 segments. 20 % of the applications have a second service.
func (a *application) paths() []networkingv1.HTTPIngressPath {
	count := 1
	switch kind := a.chance.IntN(100); {
	case kind >= 90:
		count = 4 + a.chance.IntN(9)
	case kind >= 70:
		count = 2 + a.chance.IntN(2)
	}
	second := a.service
	if count > 1 && percent(a.chance, 20) {
		second = a.addService(a.name + "-extra")
	}
	base := "/"
	if a.shared {
		base = "/" + a.name
	}
	all := []networkingv1.HTTPIngressPath{a.path(base, a.service)}
	for n := 1; n < count; n++ {
		parts := 1 + a.chance.IntN(3)
		if percent(a.chance, 5) {
			parts = 6 + a.chance.IntN(7)
		}
		text := strings.TrimSuffix(base, "/") + fmt.Sprintf("/p%d", n) // no two are the same
		for range parts {
			text += "/" + oneOf(a.chance, segments...)
		}
		all = append(all, a.path(text, oneOf(a.chance, a.service, second)))
	}
	return all
}

// path returns a path: 65 % are of type Prefix, 27 % ImplementationSpecific and 8 % Exact. 20 % name
// the port of the service, the others its number.
func (a *application) path(text string, to *corev1.Service) networkingv1.HTTPIngressPath {
	kind := networkingv1.PathTypePrefix
	switch chosen := a.chance.IntN(100); {
	case text == "/":
	case chosen >= 92:
		kind = networkingv1.PathTypeExact
	case chosen >= 65:
		kind = networkingv1.PathTypeImplementationSpecific
	}
	backend := backendOf(to)
	if percent(a.chance, 20) {
		backend.Service.Port = networkingv1.ServiceBackendPort{Name: to.Spec.Ports[0].Name}
	}
	return networkingv1.HTTPIngressPath{Path: text, PathType: &kind, Backend: backend}
}

func backendOf(s *corev1.Service) networkingv1.IngressBackend {
	return networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
		Name: s.Name, Port: networkingv1.ServiceBackendPort{Number: s.Spec.Ports[0].Port},
	}}
}

// canaryPercent is the share of applications, with a host of their own, that have a canary.
const canaryPercent = 4

// addCanary adds an ingress with the same paths that gets a share of the requests.
func (a *application) addCanary() {
	canary := a.newIngress(a.name + "-canary")
	service := a.addService(a.name + "-canary")
	canary.Spec.IngressClassName = a.ingress.Spec.IngressClassName
	canary.Spec.TLS = a.ingress.Spec.TLS
	rule := *a.ingress.Spec.Rules[0].DeepCopy()
	for n := range rule.HTTP.Paths {
		rule.HTTP.Paths[n].Backend = backendOf(service)
	}
	canary.Spec.Rules = []networkingv1.IngressRule{rule}
	for _, name := range []string{"kubernetes.io/ingress.class", prefix + "use-regex", prefix + "rewrite-target", prefix + "backend-protocol"} {
		if value, set := a.ingress.Annotations[name]; set {
			canary.Annotations[name] = value
		}
	}
	canary.Annotations[prefix+"canary"] = "true"
	switch a.chance.IntN(3) {
	case 0:
		canary.Annotations[prefix+"canary-weight"] = oneOf(a.chance, "1", "5", "10", "20", "50")
	case 1:
		canary.Annotations[prefix+"canary-by-header"] = "X-Canary"
		canary.Annotations[prefix+"canary-by-header-value"] = oneOf(a.chance, "next", "beta")
	default:
		canary.Annotations[prefix+"canary-by-cookie"] = "canary"
		canary.Annotations[prefix+"canary-weight"] = "10"
	}
	a.g.ingresses = append(a.g.ingresses, canary)
}
