package derive

import (
	"cmp"
	"crypto/sha1"
	"encoding/base64"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/behave"
)

// servedClass is the class of the ingresses of cases.
const servedClass = "nginx"

// The name and the password in all Secrets with passwords. Those of the manifests are not needed,
// and must not be in the file of a case.
const (
	user     = "windtunnel"
	password = "windtunnel"
)

// service is a service of the case, whose pods answer.
type service struct {
	key           // in the manifests
	name   string // in the case
	pods   behave.Pods
	ports  []corev1.ServicePort // that ingresses name, if there is no manifest of the service
	invent bool                 // there is no such service in the manifests
}

// certificate is a Secret with a certificate.
type certificate struct {
	key
	name                     string
	ca, client               string // the names of the authority that signs it, and of a client's certificate
	hosts                    []string
	serves, authority, shown bool // it is served to clients; signs those of clients; is presented to pods
}

// objects adds the certificates, the pods and the manifests to the case.
func (b *builder) objects(c *behave.Case) {
	c.Certificates = maps.Clone(b.extra)
	for _, one := range b.certificates {
		made := behave.Certificate{Hosts: one.hosts, Namespace: b.namespace(one.Namespace)}
		switch {
		case one.authority && !one.serves && !one.shown:
			made = behave.Certificate{Authority: true, Namespace: made.Namespace}
		case one.authority || one.shown:
			c.Certificates[one.ca] = behave.Certificate{Authority: true, Namespace: behave.NoSecret}
			made.SignedBy = one.ca
		}
		c.Certificates[one.name] = made
	}
	if len(c.Certificates) == 0 {
		c.Certificates = nil
	}
	add := func(object runtime.Object) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			panic(err) // a type of Kubernetes is not convertible: impossible
		}
		one := &unstructured.Unstructured{Object: content}
		for _, field := range []string{"status", "spec/template/metadata/creationTimestamp"} {
			unstructured.RemoveNestedField(one.Object, strings.Split(field, "/")...)
		}
		if made := one.GetCreationTimestamp(); made.IsZero() {
			unstructured.RemoveNestedField(one.Object, "metadata", "creationTimestamp")
		}
		withoutTargets(one)
		c.Manifests = append(c.Manifests, behave.Manifest{Name: one.GetName(), Object: one})
	}
	for _, i := range b.ingresses {
		add(b.ingress(i))
	}
	for _, at := range sorted(b.services) {
		s := b.services[at]
		if c.Pods == nil {
			c.Pods = map[string]behave.Pods{}
		}
		c.Pods[s.name] = s.pods
		add(b.serviceObject(s))
	}
	for _, at := range sorted(b.passwords) {
		add(b.passwordSecret(at, b.passwords[at]))
	}
	for _, at := range sorted(b.configMaps) {
		found := b.cluster.configMaps[at]
		if found == nil {
			b.notes.add("ConfigMap", "an annotation names it, but it is not among the manifests", at.String())
			continue
		}
		add(&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: b.meta(at), Data: found.Data})
	}
}

// withoutTargets removes the ports of pods that a Service does not name, which are written as 0.
func withoutTargets(service *unstructured.Unstructured) {
	ports, _, _ := unstructured.NestedFieldNoCopy(service.Object, "spec", "ports")
	all, _ := ports.([]any)
	for _, port := range all {
		if fields, ok := port.(map[string]any); ok && fields["targetPort"] == int64(0) {
			delete(fields, "targetPort")
		}
	}
}

func sorted[V any](m map[key]V) []key {
	return slices.SortedFunc(maps.Keys(m), func(a, b key) int { return cmp.Compare(a.String(), b.String()) })
}

// meta is the metadata of an object of the case.
func (b *builder) meta(at key) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: b.namespace(at.Namespace), Name: at.Name}
}

// serviceObject returns the manifest of a service, with its ports and without a selector.
func (b *builder) serviceObject(s *service) *corev1.Service {
	made := &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: b.meta(s.key)}
	made.Name = s.name
	found := b.cluster.services[s.key]
	if found == nil || found.Spec.Type == corev1.ServiceTypeExternalName {
		made.Spec.Ports = s.ports
		if len(s.ports) == 0 {
			made.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
		}
		switch {
		case s.invent:
		case found == nil:
			b.notes.add("Service", "it is not among the manifests, so it gets the ports that ingresses name", s.key.String())
		default:
			b.notes.add("Service", "its type is ExternalName; pods of the case answer in its place", s.key.String())
		}
		return made
	}
	for _, port := range found.Spec.Ports {
		if cmp.Or(port.Protocol, corev1.ProtocolTCP) != corev1.ProtocolTCP {
			continue
		}
		kept := corev1.ServicePort{Name: port.Name, Port: port.Port}
		if port.TargetPort.Type == intstr.String {
			kept.TargetPort = port.TargetPort
		}
		made.Spec.Ports = append(made.Spec.Ports, kept)
	}
	return made
}

// passwordSecret returns a Secret with a password.
func (b *builder) passwordSecret(at key, kind string) *corev1.Secret {
	sum := sha1.Sum([]byte(password)) // a format of htpasswd that nginx reads
	hash := "{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
	secret := &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: b.meta(at)}
	if kind == "auth-map" {
		secret.StringData = map[string]string{user: hash}
	} else {
		secret.StringData = map[string]string{"auth": user + ":" + hash + "\n"}
	}
	return secret
}

// ingress returns the manifest of an ingress, with the names of the case.
func (b *builder) ingress(i *ingress) *networkingv1.Ingress {
	made := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
		ObjectMeta: b.meta(i.key), Spec: *i.spec.DeepCopy(),
	}
	made.CreationTimestamp = i.made // of two ingresses with the same path, the older one wins
	made.Spec.IngressClassName = new(servedClass)
	prefix := cmp.Or(b.o.Flags["annotations-prefix"], defaultPrefix) + "/"
	for name, value := range i.annots {
		if _, left := leftOut[name]; left {
			continue
		}
		if made.Annotations == nil {
			made.Annotations = map[string]string{}
		}
		made.Annotations[prefix+name] = b.annotation(i, name, value)
	}
	rename := func(to *networkingv1.IngressBackend) {
		if to != nil && to.Service != nil {
			to.Service.Name = b.service(i.Namespace, to.Service.Name).name
		}
	}
	rename(made.Spec.DefaultBackend)
	for _, rule := range made.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for n := range rule.HTTP.Paths {
			rename(&rule.HTTP.Paths[n].Backend)
		}
	}
	for n, tls := range made.Spec.TLS {
		if tls.SecretName != "" {
			made.Spec.TLS[n].SecretName = b.certificate(key{Namespace: i.Namespace, Name: tls.SecretName}, i, tls.Hosts).name
		}
	}
	return made
}

// annotation returns the value of an annotation with the names of the case.
func (b *builder) annotation(i *ingress, name, value string) string {
	switch name {
	case "auth-secret", "auth-tls-secret", "proxy-ssl-secret", "custom-headers", "auth-proxy-set-headers", "fastcgi-params-configmap":
		at, ok := i.reference(name)
		if !ok {
			return value
		}
		object := at.Name
		if c := b.certificates[at]; c != nil && name != "auth-secret" {
			object = c.name
		}
		if !strings.Contains(value, "/") {
			return object
		}
		return b.namespace(at.Namespace) + "/" + object
	case "default-backend":
		return b.service(i.Namespace, strings.TrimSpace(value)).name
	case "auth-url":
		return b.localURL(i.Namespace, value, authService)
	case "mirror-target":
		return b.localURL(i.Namespace, value, mirrorService)
	}
	return value
}

// The services that replace hosts outside the cluster.
const (
	authService   = "windtunnel-auth"
	mirrorService = "windtunnel-mirror"
)

var (
	fullURL   = regexp.MustCompile(`^(https?)://([^/?#$\s]+)((?:[/?]|\$request_uri).*)?$`)
	inCluster = regexp.MustCompile(`^([a-z0-9-]+)(?:\.([a-z0-9-]+)(\.svc(?:\.cluster\.local)?)?)?(?::\d+)?$`)
)

// called returns the service that a URL in an annotation calls, and the rest of the URL. A host
// that is not a service of the manifests is replaced by an invented service. ok is false if the
// text is not a URL, or its host contains a variable.
func (b *builder) called(namespace, text, madeUp string) (to *service, rest string, ok bool) {
	parts := fullURL.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return nil, "", false
	}
	if name := inCluster.FindStringSubmatch(parts[2]); name != nil {
		at := key{Namespace: cmp.Or(name[2], namespace), Name: name[1]}
		if b.cluster.services[at] != nil || b.services[at] != nil || name[3] != "" {
			return b.service(at.Namespace, at.Name), parts[3], true
		}
	}
	to = b.service(namespace, madeUp)
	to.invent = true
	return to, parts[3], true
}

// localURL returns a URL with the name of a service of the case.
func (b *builder) localURL(namespace, text, madeUp string) string {
	to, rest, ok := b.called(namespace, text, madeUp)
	if !ok {
		return text
	}
	return "http://" + to.name + "." + b.namespace(to.Namespace) + ".svc.cluster.local" + rest
}
