package derive

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/sim/behave"
)

// service returns the service of the case for one of the manifests.
func (b *builder) service(namespace, name string) *service {
	at := key{Namespace: namespace, Name: name}
	if s := b.services[at]; s != nil {
		return s
	}
	b.namespace(namespace)
	s := &service{key: at, name: unique(label(name), b.names)}
	b.services[at] = s
	return s
}

// port ensures that a service that is missing from the manifests has a port.
func (s *service) port(wanted networkingv1.ServiceBackendPort) {
	if slices.ContainsFunc(s.ports, func(p corev1.ServicePort) bool {
		return wanted.Name != "" && p.Name == wanted.Name || wanted.Name == "" && p.Port == wanted.Number
	}) {
		return
	}
	number := wanted.Number
	for number == 0 || wanted.Number == 0 && slices.ContainsFunc(s.ports, func(p corev1.ServicePort) bool { return p.Port == number }) {
		number = max(number+1, 80)
	}
	s.ports = append(s.ports, corev1.ServicePort{Name: cmp.Or(wanted.Name, fmt.Sprintf("port-%d", number)), Port: number})
}

// collect finds the objects that an ingress names.
func (b *builder) collect(i *ingress) {
	b.namespace(i.Namespace)
	backend := func(to *networkingv1.IngressBackend) {
		if to != nil && to.Service != nil {
			b.service(i.Namespace, to.Service.Name).port(to.Service.Port)
		}
	}
	backend(i.spec.DefaultBackend)
	for _, rule := range i.spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for n := range rule.HTTP.Paths {
			backend(&rule.HTTP.Paths[n].Backend)
			b.speak(i, rule.HTTP.Paths[n].Backend.Service)
		}
	}
	if name := i.value("default-backend"); name != "" {
		b.service(i.Namespace, name).port(networkingv1.ServiceBackendPort{Number: 80})
	}
	for _, tls := range i.spec.TLS {
		if tls.SecretName != "" {
			b.certificate(key{Namespace: i.Namespace, Name: tls.SecretName}, i, tls.Hosts).serves = true
		}
	}
	if at, ok := i.reference("auth-tls-secret"); ok {
		b.certificate(at, i, nil).authority = true
	}
	if at, ok := i.reference("proxy-ssl-secret"); ok {
		b.certificate(at, i, nil).shown = true
	}
	if at, ok := i.reference("auth-secret"); ok && i.has("auth-type") {
		b.namespace(at.Namespace)
		b.passwords[at] = cmp.Or(i.value("auth-secret-type"), "auth-file")
	}
	for _, name := range []string{"custom-headers", "auth-proxy-set-headers", "fastcgi-params-configmap"} {
		if at, ok := i.reference(name); ok {
			b.namespace(at.Namespace)
			b.configMaps[at] = true
		}
	}
}

// severalPods is the number of pods of services where clients must stay with one pod.
const severalPods = 3

// speak sets the number and the protocol of a service's pods as the ingress needs them.
func (b *builder) speak(i *ingress, to *networkingv1.IngressServiceBackend) {
	if to == nil {
		return
	}
	pods := &b.service(i.Namespace, to.Name).pods
	if i.has("affinity", "upstream-hash-by") {
		pods.Replicas = new(severalPods)
	}
	protocols := map[string]string{"HTTPS": "https", "GRPC": "grpc", "GRPCS": "grpcs", "FCGI": "fastcgi"}
	protocol := protocols[strings.ToUpper(i.value("backend-protocol"))]
	if i.on("ssl-passthrough") && isTrue(b.o.Flags["enable-ssl-passthrough"]) {
		protocol = "https"
	}
	if protocol == "" || pods.Protocol != "" {
		return
	}
	pods.Protocol = protocol
	if at, ok := i.reference("proxy-ssl-secret"); ok && (protocol == "https" || protocol == "grpcs") {
		secret := b.certificate(at, i, nil)
		name := unique(secret.name+"-pods", b.names)
		b.extra[name] = behave.Certificate{Hosts: []string{cmp.Or(i.value("proxy-ssl-name"), to.Name)}, SignedBy: secret.ca, Namespace: behave.NoSecret}
		pods.Certificate = name
	}
}

// speakToCanaries sets the protocol of the canaries' pods to that of the main ingress, which
// applies to both.
func (b *builder) speakToCanaries() {
	for _, s := range b.sites {
		for _, p := range s.paths {
			for _, canary := range b.canaries(s, p) {
				to := (&asker{builder: b, site: s, path: p}).backendOf(canary)
				if to != nil && to.pods.Protocol == "" {
					to.pods.Protocol, to.pods.Certificate = p.backend.pods.Protocol, p.backend.pods.Certificate
				}
			}
		}
	}
}

// grpc reports whether clients of the ingress speak gRPC.
func (i *ingress) grpc() bool {
	return speaksGRPC(i.value("backend-protocol"))
}

// speaksGRPC reports whether a backend-protocol is gRPC, with or without TLS.
func speaksGRPC(protocol string) bool {
	return strings.HasPrefix(strings.ToUpper(protocol), "GRPC")
}

// reference returns the object that an annotation names, as [namespace/]name.
func (i *ingress) reference(name string) (at key, ok bool) {
	namespace, object, qualified := strings.Cut(i.value(name), "/")
	if !qualified {
		namespace, object = i.Namespace, namespace
	}
	return key{Namespace: namespace, Name: object}, namespace != "" && object != ""
}

// certificate returns the certificate in a Secret. Its names are those of the certificate in the
// manifests or, if there is none, those that the ingress wants.
func (b *builder) certificate(at key, i *ingress, hosts []string) *certificate {
	c := b.certificates[at]
	if c == nil {
		b.namespace(at.Namespace)
		c = &certificate{key: at, name: unique(label(at.Name), b.names)}
		c.ca, c.client = unique(c.name+"-ca", b.names), unique(c.name+"-client", b.names)
		b.certificates[at] = c
		c.hosts = namesIn(b.secrets[at])
	}
	if namesIn(b.secrets[at]) != nil {
		return c
	}
	if len(hosts) == 0 && i != nil {
		for _, rule := range i.spec.Rules {
			hosts = append(hosts, rule.Host)
		}
	}
	for _, host := range hosts {
		if host != "" && !slices.Contains(c.hosts, host) {
			c.hosts = append(c.hosts, host)
		}
	}
	return c
}

// namesIn returns the names of the certificate in a Secret.
func namesIn(secret *corev1.Secret) []string {
	if secret == nil {
		return nil
	}
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	if block == nil {
		return nil
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}
