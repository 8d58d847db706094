package derive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/internal/ingresshost"
	"windtunnel.dev/sim/manifest"
)

const (
	defaultNamespace = "default"
	defaultPrefix    = "nginx.ingress.kubernetes.io"
	classAnnotation  = "kubernetes.io/ingress.class"
)

// key is the namespace and name of an object.
type key = types.NamespacedName

// cluster holds the objects of the manifests that cases need.
type cluster struct {
	ingresses  []*ingress
	services   map[key]*corev1.Service
	secrets    map[key]*corev1.Secret
	configMaps map[key]*corev1.ConfigMap
	config     map[string]string // of the controller
}

// ingress is an Ingress that the controller serves.
type ingress struct {
	key
	spec   networkingv1.IngressSpec
	made   metav1.Time       // zero if it is not known
	annots map[string]string // known ones of the controller, without prefix
	all    map[string]bool   // the names of all, known or not
}

// on reports whether an annotation is true.
func (i *ingress) on(name string) bool { return isTrue(i.annots[name]) }

// isTrue reads an annotation, a ConfigMap key or a flag as the controller does.
func isTrue(text string) bool {
	is, err := strconv.ParseBool(strings.TrimSpace(text))
	return err == nil && is
}

// has reports whether one of the annotations is set.
func (i *ingress) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return i.annots[name] != "" })
}

// value returns the first annotation that is set, without spaces around it.
func (i *ingress) value(names ...string) string {
	for _, name := range names {
		if value := strings.TrimSpace(i.annots[name]); value != "" {
			return value
		}
	}
	return ""
}

// described returns the exported description of the ingress.
func (i *ingress) described() Ingress {
	made := Ingress{Object: i.object(), Annotations: slices.Sorted(maps.Keys(i.all))}
	add := func(all *[]string, name string) {
		if name != "" && !slices.Contains(*all, name) {
			*all = append(*all, name)
		}
	}
	routes := func(to *networkingv1.IngressBackend) {
		if to != nil && to.Service != nil {
			add(&made.Services, i.Namespace+"/"+to.Service.Name)
		}
	}
	routes(i.spec.DefaultBackend)
	for _, rule := range i.spec.Rules {
		add(&made.Hosts, rule.Host)
		if rule.HTTP == nil {
			continue
		}
		for n := range rule.HTTP.Paths {
			routes(&rule.HTTP.Paths[n].Backend)
		}
	}
	return made
}

// object returns the name of the ingress in omissions: namespace/name.
func (i *ingress) object() string { return i.key.String() }

// read sorts the manifests by kind.
func read(manifests []manifest.Manifest, o Options, notes *notes) *cluster {
	c := &cluster{services: map[key]*corev1.Service{}, secrets: map[key]*corev1.Secret{}, configMaps: map[key]*corev1.ConfigMap{}}
	for _, m := range manifests {
		if m.Object.GetName() == "" {
			notes.add(m.Object.GetKind(), "left out: it has no name", "")
			continue
		}
		at := key{Namespace: cmp.Or(m.Object.GetNamespace(), defaultNamespace), Name: m.Object.GetName()}
		switch kind := m.Object.GroupVersionKind().GroupKind().String(); kind {
		case "Ingress.networking.k8s.io":
			var object networkingv1.Ingress
			if convert(m.Object, &object, notes) && c.serves(&object, o, notes) {
				known, all := annotationsOf(&object, o, notes)
				c.ingresses = append(c.ingresses, &ingress{key: at, spec: object.Spec, made: object.CreationTimestamp, annots: known, all: all})
			}
		case "Service":
			if object := new(corev1.Service); convert(m.Object, object, notes) {
				c.services[at] = object
			}
		case "Secret":
			if object := new(corev1.Secret); convert(m.Object, object, notes) {
				c.secrets[at] = object
			}
		case "ConfigMap":
			if object := new(corev1.ConfigMap); convert(m.Object, object, notes) {
				c.configMaps[at] = object
			}
		case "EndpointSlice.discovery.k8s.io", "Endpoints", "Namespace", "IngressClass.networking.k8s.io":
			// our pods replace endpoints, and the cases have their own namespaces and class
		default:
			notes.add(m.Object.GetKind(), "ignored: it does not affect the answers to clients", "")
		}
	}
	slices.SortStableFunc(c.ingresses, func(a, b *ingress) int { return cmp.Compare(a.object(), b.object()) })
	c.ingresses = slices.CompactFunc(c.ingresses, func(a, b *ingress) bool { return a.key == b.key })
	if found := c.configMaps[o.ConfigMap]; found != nil {
		c.config = usable(found.Data, o, notes)
	}
	return c
}

func convert(from *unstructured.Unstructured, to any, notes *notes) bool {
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, to)
	if err != nil {
		notes.add(from.GetKind(), fmt.Sprintf("left out: it does not decode: %v", err), from.GetNamespace()+"/"+from.GetName())
	}
	return err == nil
}

// serves reports whether an ingress is of the class.
func (c *cluster) serves(i *networkingv1.Ingress, o Options, notes *notes) bool {
	class := i.Annotations[classAnnotation]
	if i.Spec.IngressClassName != nil {
		class = *i.Spec.IngressClassName
	}
	if class != "" && class != o.Class {
		notes.add("Ingress", "left out: its class is "+class+", not "+o.Class, cmp.Or(i.Namespace, defaultNamespace)+"/"+i.Name)
		return false
	}
	return true
}

// annotationsOf returns the controller's annotations of an ingress, without their prefix: those that
// the cases can have, and the names of all. It omits empty ones, which have no effect.
func annotationsOf(i *networkingv1.Ingress, o Options, notes *notes) (known map[string]string, all map[string]bool) {
	prefix := cmp.Or(o.Flags["annotations-prefix"], defaultPrefix) + "/"
	known, all = map[string]string{}, map[string]bool{}
	for full, value := range i.Annotations {
		name, ours := strings.CutPrefix(full, prefix)
		if !ours || value == "" {
			continue
		}
		all[name] = true
		switch {
		case o.Known.Annotations != nil && !slices.Contains(o.Known.Annotations, defaultPrefix+"/"+name):
			notes.add("annotation/"+name, "left out: the bundled controller does not support it", cmp.Or(i.Namespace, defaultNamespace)+"/"+i.Name)
		default:
			known[name] = value
		}
	}
	if header := "connection-proxy-header"; known[header] != "" && speaksGRPC(known["backend-protocol"]) {
		delete(known, header)
		notes.add("annotation/"+header, "left out: HTTP/2 forbids the header Connection, so pods that speak gRPC reject requests or close the connection, by chance",
			cmp.Or(i.Namespace, defaultNamespace)+"/"+i.Name)
	}
	return known, all
}

// components divides the ingresses into groups without a host in common, because an ingress can only
// affect others with the same host. Each group is sorted by name.
func (c *cluster) components() [][]*ingress {
	parent := make([]int, len(c.ingresses))
	var root func(int) int
	root = func(n int) int {
		if parent[n] != n {
			parent[n] = root(parent[n])
		}
		return parent[n]
	}
	first := map[string]int{}
	for n, i := range c.ingresses {
		parent[n] = n
		for _, host := range i.claims() {
			if before, taken := first[host]; taken {
				parent[root(n)] = root(before)
			} else {
				first[host] = n
			}
		}
	}
	byRoot := map[int]int{}
	var groups [][]*ingress
	for n, i := range c.ingresses {
		group, known := byRoot[root(n)]
		if !known {
			group = len(groups)
			byRoot[root(n)] = group
			groups = append(groups, nil)
		}
		groups[group] = append(groups[group], i)
	}
	return groups
}

// claims returns the hosts that an ingress affects.
func (i *ingress) claims() []string {
	var hosts []string
	add := func(host string) {
		hosts = append(hosts, host)
		if i.on("from-to-www-redirect") {
			hosts = append(hosts, ingresshost.OtherWWW(host))
		}
	}
	for _, rule := range i.spec.Rules {
		add(strings.ToLower(rule.Host))
	}
	if len(i.spec.Rules) == 0 {
		add("")
	}
	for _, alias := range i.aliases() {
		add(strings.ToLower(alias))
	}
	return hosts
}

// aliases returns the names in the annotation server-alias.
func (i *ingress) aliases() []string { return list(i.annots["server-alias"]) }

// list returns the items of a list that is separated by commas.
func list(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
