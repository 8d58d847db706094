package clusters

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/corpus/certificates"
)

const (
	prefix     = "nginx.ingress.kubernetes.io/"
	className  = corpus.IngressClass
	otherClass = "internal" // of another controller
)

func (g *generator) addClasses() {
	for _, class := range []struct{ name, controller string }{
		{className, corpus.ControllerName}, {otherClass, "example.com/internal-ingress"},
	} {
		g.first = append(g.first, &networkingv1.IngressClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "IngressClass"},
			ObjectMeta: metav1.ObjectMeta{Name: class.name},
			Spec:       networkingv1.IngressClassSpec{Controller: class.controller},
		})
	}
}

// addService adds a service with its pods. 3 % are of type ExternalName and 4 % headless.
func (a *application) addService(name string) *corev1.Service {
	service := a.g.newService(a.namespace, name, oneOf[int32](a.chance, 80, 80, 80, 8080, 3000, 443))
	switch kind := a.chance.IntN(100); {
	case kind < 3:
		service.Spec.Type, service.Spec.ClusterIP = corev1.ServiceTypeExternalName, ""
		service.Spec.ExternalName = name + ".external.example"
		a.g.add(service)
		return service
	case kind < 7:
		service.Spec.ClusterIP = corev1.ClusterIPNone
	}
	a.g.add(service)
	a.g.addSlice(service, a.pods(), func() bool { return !percent(a.chance, 2) })
	return service
}

// pods returns how many pods a service has: 2 % none, 68 % 1 to 3, 25 % 4 to 10, 5 % 11 to 60.
func (a *application) pods() int {
	switch kind := a.chance.IntN(100); {
	case kind < 2:
		return 0
	case kind < 70:
		return 1 + a.chance.IntN(3)
	case kind < 95:
		return 4 + a.chance.IntN(7)
	}
	return 11 + a.chance.IntN(50)
}

// newService returns a service with a cluster IP of its own.
func (g *generator) newService(namespace, name string, port int32) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.ServiceSpec{
			Type:      corev1.ServiceTypeClusterIP,
			ClusterIP: address(96, uint32(len(g.backends)+1)),
			Ports:     []corev1.ServicePort{{Name: "http", Port: port, TargetPort: intstr.FromInt32(8080), Protocol: corev1.ProtocolTCP}},
		},
	}
}

// addSlice adds the endpoints of a service. ready decides whether the next pod is ready.
func (g *generator) addSlice(service *corev1.Service, pods int, ready func() bool) {
	port := service.Spec.Ports[0]
	g.slices++
	slice := &discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: discoveryv1.SchemeGroupVersion.String(), Kind: "EndpointSlice"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: service.Namespace, Name: fmt.Sprintf("%s-%05x", service.Name, g.slices),
			Labels: map[string]string{discoveryv1.LabelServiceName: service.Name},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &port.Name, Port: new(port.TargetPort.IntVal), Protocol: &port.Protocol}},
		Endpoints:   []discoveryv1.Endpoint{},
	}
	for range pods {
		g.pods++
		up := ready()
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{address(128, g.pods)},
			Conditions: discoveryv1.EndpointConditions{Ready: &up, Serving: new(up), Terminating: new(false)},
		})
	}
	g.add(slice)
}

// address returns address n of the network 10.second.0.0.
func address(second byte, n uint32) string {
	n += uint32(second) << 16
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String()
}

// The shares of certificates, in percent.
const (
	tlsPercent     = 74 // of the applications that have TLS
	ownPercent     = 78 // of those, the ones with a certificate of their own
	defaultPercent = 4  // of those, the ones that ask for the default certificate
)

// Certificates are valid for all of this time, so that they do not expire between two runs.
var (
	validFrom  = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	validUntil = time.Date(2049, 12, 31, 0, 0, 0, 0, time.UTC)
)

// secure gives the ingress a certificate: its own, that of its team, or the default one.
func (a *application) secure() {
	if !percent(a.chance, tlsPercent) {
		return
	}
	a.tls = true
	entry := networkingv1.IngressTLS{Hosts: []string{a.host}}
	kind := a.chance.Float64() * 100
	switch {
	case kind < defaultPercent:
	case kind < defaultPercent+ownPercent && !a.shared:
		entry.SecretName = a.name + "-tls"
		a.g.addCertificate(a.namespace, entry.SecretName, a.host)
	case kind >= defaultPercent+ownPercent || a.shared:
		// The certificate of a team covers one level below its domain.
		entry.SecretName = "team-tls"
		if !a.coveredByTeam() {
			entry.SecretName = a.name + "-tls"
			a.g.addCertificate(a.namespace, entry.SecretName, a.host)
		} else if shared := a.namespace + "/team-tls"; !a.g.secrets[shared] {
			a.g.secrets[shared] = true
			a.g.addCertificate(a.namespace, entry.SecretName, "*."+a.team())
		}
	}
	a.ingress.Spec.TLS = []networkingv1.IngressTLS{entry}
	if percent(a.chance, 60) {
		a.ingress.Annotations["cert-manager.io/cluster-issuer"] = "letsencrypt"
	}
}

func (a *application) team() string {
	return a.namespace + "." + a.g.domains[len(a.namespace)%len(a.g.domains)]
}

func (a *application) coveredByTeam() bool {
	return a.shared || a.host == a.name+"."+a.team()
}

// addCertificate adds a Secret with a certificate for the hosts.
func (g *generator) addCertificate(namespace, name string, hosts ...string) *corev1.Secret {
	pair := g.certificate(namespace+"/"+name, &x509.Certificate{
		Subject: pkix.Name{CommonName: shortened(hosts[0])}, DNSNames: hosts, NotBefore: validFrom, NotAfter: validUntil,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	secret := newSecret(namespace, name, corev1.SecretTypeTLS, map[string][]byte{
		corev1.TLSCertKey: pair.Certificate, corev1.TLSPrivateKeyKey: pair.Key,
	})
	g.add(secret)
	return secret
}

// shortened returns a common name of at most 64 characters (X.520, ub-common-name).
func shortened(host string) string { return host[:min(len(host), 64)] }

// authority returns the certificate of an authority.
func (g *generator) authority(name string) []byte {
	return g.certificate("authority "+name, &x509.Certificate{
		Subject: pkix.Name{CommonName: shortened("Authority of " + name)}, NotBefore: validFrom, NotAfter: validUntil,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}).Certificate
}

func (g *generator) certificate(name string, template *x509.Certificate) certificates.Pair {
	pair, err := certificates.SelfSigned(template, fmt.Sprintf("%d %s", g.seed, name))
	if err != nil {
		panic(fmt.Sprintf("clusters: the certificate of %s: %v", name, err)) // impossible: the template is valid
	}
	return pair
}

func newSecret(namespace, name string, kind corev1.SecretType, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Type:       kind,
		Data:       data,
	}
}

func newConfigMap(namespace, name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       data,
	}
}
