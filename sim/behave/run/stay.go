package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/ask"
	"windtunnel.dev/sim/cluster"
)

// stay is a case while it is in an installation: its certificates, pods and objects.
type stay struct {
	*behave.Case
	in           *installation
	fleet        backend.ScriptedFleet
	namespace    string
	certificates map[string]issued
	authorities  *authorityServer    // nil unless certificates name its URLs
	services     map[string]*service // by name, as in Spec.Pods
	ports        map[string]string   // on which nginx listens, by the port in the case
	written      []*unstructured.Unstructured
	jars         *ask.Jars
	records      []behave.Record // one for each step so far
	backgrounds  []*background
	patience     time.Duration // how long to wait for requests that pods must still receive
}

// enter starts the pods of a case and creates everything that its other objects refer to: the
// namespaces, the Secrets with certificates, the services and their endpoints.
func enter(ctx context.Context, in *installation, c *behave.Case) (*stay, error) {
	s := &stay{Case: c, in: in, namespace: Namespace(c), services: map[string]*service{}, ports: map[string]string{}, jars: &ask.Jars{}, patience: patience}
	var ok bool
	if s.fleet, ok = in.instance.Pods().(backend.ScriptedFleet); !ok {
		return nil, fmt.Errorf("the pods of this driver cannot follow a script")
	}
	var err error
	if err := s.choosePorts(); err != nil {
		return nil, err
	}
	now := time.Now()
	if s.authorities, err = listenForAuthorities(c.Certificates); err != nil {
		return nil, err
	}
	if s.certificates, err = issue(c.Certificates, s.authorities, now); err != nil {
		return s, err
	}
	s.authorities.serve(s.certificates)
	for _, namespace := range s.namespaces() {
		if err := s.write(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			return s, err
		}
	}
	made, err := secrets(c, s.certificates, now)
	if err != nil {
		return s, err
	}
	for _, secret := range made {
		if err := s.write(ctx, secret); err != nil {
			return s, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Pods)) {
		if err := s.serve(ctx, name, c.Pods[name]); err != nil {
			return s, fmt.Errorf("service %s: %w", name, err)
		}
	}
	return s, nil
}

// namespaces returns the namespaces of the case's objects, its own first.
func (s *stay) namespaces() []string {
	all := []string{s.namespace}
	add := func(namespace string) {
		if namespace != "" && namespace != behave.NoSecret && !slices.Contains(all, namespace) {
			all = append(all, namespace)
		}
	}
	for _, manifest := range s.Manifests {
		add(manifest.Object.GetNamespace())
	}
	for _, name := range slices.Sorted(maps.Keys(s.Spec.Certificates)) {
		add(s.Spec.Certificates[name].Namespace)
	}
	return all
}

// apply writes the manifests that no step applies by name.
func (s *stay) apply(ctx context.Context) error {
	for _, manifest := range s.Manifests {
		if manifest.Named {
			continue
		}
		if err := s.put(ctx, manifest); err != nil {
			return err
		}
	}
	return nil
}

// put writes a manifest, in the case's namespace unless it has another one.
func (s *stay) put(ctx context.Context, manifest behave.Manifest) error {
	object, err := s.prepared(manifest)
	if err != nil {
		return err
	}
	return s.writeObject(ctx, object)
}

// prepared returns the object as it is written: with a namespace, a class, and addresses in place of
// the names of services.
func (s *stay) prepared(manifest behave.Manifest) (*unstructured.Unstructured, error) {
	object := manifest.Object.DeepCopy()
	namespaced, err := s.in.client.Namespaced(object)
	if err != nil {
		return nil, err
	}
	if object.GetNamespace() == "" && namespaced {
		object.SetNamespace(s.namespace)
	}
	annotations := object.GetAnnotations()
	for name, value := range annotations {
		annotations[name] = s.addresses(value)
	}
	object.SetAnnotations(annotations)
	switch object.GetKind() {
	case "Ingress":
		var ingress networkingv1.Ingress
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &ingress); err != nil {
			return nil, err
		}
		switch {
		case ingress.Spec.IngressClassName != nil:
			ingress.Spec.IngressClassName = new(s.classOf(*ingress.Spec.IngressClassName))
		case ingress.Annotations[classAnnotation] != "":
			ingress.Annotations[classAnnotation] = s.classOf(ingress.Annotations[classAnnotation])
		case !s.aboutClasses():
			ingress.Spec.IngressClassName = new(s.in.class)
		}
		return cluster.Object(&ingress)
	case "ConfigMap":
		data, found, err := unstructured.NestedStringMap(object.Object, "data")
		if err != nil || !found {
			return object, err
		}
		translated := map[string]string{}
		for key, value := range data {
			translated[cmp.Or(s.ports[key], key)] = s.addresses(value)
		}
		return object, unstructured.SetNestedStringMap(object.Object, translated, "data")
	}
	return object, nil
}

// classAnnotation names the class of an ingress without ingressClassName.
const classAnnotation = "kubernetes.io/ingress.class"

// aboutClasses reports whether the case tests classes, so that an ingress without a class must stay
// without one.
func (s *stay) aboutClasses() bool {
	_, flag := s.Flags["watch-ingress-without-class"]
	return flag || slices.ContainsFunc(s.Manifests, func(m behave.Manifest) bool { return m.Object.GetKind() == "IngressClass" })
}

// choosePorts chooses a free port for each one that the case's requests name, because other subjects
// run on this machine at the same time.
func (s *stay) choosePorts() error {
	for _, step := range s.Steps {
		name := strconv.Itoa(step.Port)
		if step.Port == 0 || s.ports[name] != "" {
			continue
		}
		free, err := port.Free(1)
		if err != nil {
			return err
		}
		s.ports[name] = strconv.Itoa(free)
	}
	return nil
}

// listening is an address of nginx with a port of its own.
var listening = regexp.MustCompile(`\b127\.0\.0\.1:\d+`)

// inCluster is the DNS name of a service in a cluster, with an optional port.
var inCluster = regexp.MustCompile(`\b([a-z0-9-]+)\.([a-z0-9-]+)\.svc\.cluster\.local(?::\d+)?`)

// addresses replaces the DNS names of the case's services by the addresses of their first pods,
// because simulated clusters have no DNS, and the ports on which nginx listens by those chosen.
func (s *stay) addresses(text string) string {
	text = listening.ReplaceAllStringFunc(text, func(address string) string {
		host, name, _ := strings.Cut(address, ":")
		return host + ":" + cmp.Or(s.ports[name], name)
	})
	return inCluster.ReplaceAllStringFunc(text, func(name string) string {
		parts := inCluster.FindStringSubmatch(name)
		for _, service := range s.services {
			if service.name == parts[1] && service.namespace == parts[2] && len(service.pods) > 0 {
				return service.pods[0].Addr().String()
			}
		}
		return name
	})
}

// located returns keys of a ConfigMap with addresses in place of the names of the case's services.
func (s *stay) located(config map[string]string) map[string]string {
	located := map[string]string{}
	for key, value := range config {
		located[key] = s.addresses(value)
	}
	return located
}

// write creates or replaces an object, and remembers to delete it.
func (s *stay) write(ctx context.Context, typed runtime.Object) error {
	object, err := cluster.Object(typed)
	if err != nil {
		return err
	}
	return s.writeObject(ctx, object)
}

func (s *stay) writeObject(ctx context.Context, object *unstructured.Unstructured) error {
	if _, err := s.in.client.Put(ctx, object); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.written, func(o *unstructured.Unstructured) bool { return cluster.Name(o) == cluster.Name(object) }) {
		s.written = append(s.written, object)
	}
	return nil
}

// remove deletes the manifests with a name, the last first.
func (s *stay) remove(ctx context.Context, name string) error {
	manifests := slices.Clone(s.Named(name))
	slices.Reverse(manifests)
	for _, manifest := range manifests {
		object, err := s.prepared(manifest)
		if err != nil {
			return err
		}
		if err := s.in.client.Delete(ctx, object); err != nil {
			return err
		}
		s.written = slices.DeleteFunc(s.written, func(o *unstructured.Unstructured) bool { return cluster.Name(o) == cluster.Name(object) })
	}
	return nil
}

// leave deletes everything that the case wrote, the newest first, and ends its pods.
func (s *stay) leave(ctx context.Context) error {
	first := s.authorities.close()
	for i := len(s.written) - 1; i >= 0; i-- {
		if err := s.in.client.Delete(ctx, s.written[i]); err != nil && first == nil {
			first = err
		}
	}
	s.written = nil
	for _, service := range s.services {
		for _, pod := range service.pods {
			pod.Terminate(0)
		}
	}
	return first
}

// short returns a name without its namespace.
func short(name string) string {
	_, after, found := strings.Cut(name, "/")
	if !found {
		return name
	}
	return after
}
