package dump

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const classAnnotation = "kubernetes.io/ingress.class"

// sanitised returns the objects of the import, in an order in which they can be created.
func (i *importer) sanitised() ([]runtime.Object, error) {
	var all []runtime.Object
	add := func(kind string, object runtime.Object) {
		i.Took[kind]++
		all = append(all, object)
	}
	for _, class := range sorted(i.classes) {
		add("IngressClass", i.class(class))
	}
	for _, config := range keep(i, "ConfigMap", i.configMaps, func(n name) bool { return i.wanted.configMaps[n] }) {
		add("ConfigMap", i.configMap(config))
	}
	for _, secret := range keep(i, "Secret", i.secrets, func(n name) bool { return i.wanted.secrets[n] != 0 }) {
		sanitised, err := i.secret(secret)
		if err != nil {
			return nil, err
		}
		add("Secret", sanitised)
	}
	for _, service := range keep(i, "Service", i.services, func(n name) bool { return i.wanted.services[n] }) {
		add("Service", i.service(service))
	}
	for _, slice := range sorted(i.slices) {
		of := name{Namespace: slice.Namespace, Name: slice.Labels[discoveryv1.LabelServiceName]}
		if i.services[of] == nil || !i.wanted.services[of] {
			i.LeftOut["EndpointSlice that nothing refers to"]++
			continue
		}
		add("EndpointSlice", i.slice(slice))
		i.Endpoints += len(slice.Endpoints)
	}
	for _, ingress := range sorted(i.ingresses) {
		add("Ingress", i.ingress(ingress))
	}
	return all, nil
}

// meta returns the metadata that affect a controller: the name and, because the oldest object wins a
// conflict, the creation time.
func (i *importer) meta(object metav1.Object) metav1.ObjectMeta {
	named := i.names.object(nameOf(object))
	return metav1.ObjectMeta{Namespace: named.Namespace, Name: named.Name, CreationTimestamp: object.GetCreationTimestamp()}
}

func kindOf(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

// class keeps the name of a class, which a flag of the controller names.
func (i *importer) class(c *networkingv1.IngressClass) *networkingv1.IngressClass {
	kept := &networkingv1.IngressClass{
		TypeMeta:   kindOf("networking.k8s.io/v1", "IngressClass"),
		ObjectMeta: metav1.ObjectMeta{Name: c.Name, CreationTimestamp: c.CreationTimestamp},
		Spec:       networkingv1.IngressClassSpec{Controller: c.Spec.Controller},
	}
	if value, set := c.Annotations[networkingv1.AnnotationIsDefaultIngressClass]; set {
		kept.Annotations = map[string]string{networkingv1.AnnotationIsDefaultIngressClass: value}
	}
	return kept
}

func (i *importer) service(s *corev1.Service) *corev1.Service {
	kept := &corev1.Service{
		TypeMeta:   kindOf("v1", "Service"),
		ObjectMeta: i.meta(s),
		Spec: corev1.ServiceSpec{
			Type:                s.Spec.Type,
			ClusterIP:           s.Spec.ClusterIP,
			ExternalName:        i.names.host(s.Spec.ExternalName),
			TrafficDistribution: s.Spec.TrafficDistribution,
		},
	}
	for _, port := range s.Spec.Ports {
		kept.Spec.Ports = append(kept.Spec.Ports, corev1.ServicePort{
			Name: port.Name, Protocol: port.Protocol, AppProtocol: port.AppProtocol, Port: port.Port, TargetPort: port.TargetPort,
		})
	}
	if value, set := s.Annotations[corev1.AnnotationTopologyMode]; set {
		kept.Annotations = map[string]string{corev1.AnnotationTopologyMode: value}
	}
	return kept
}

func (i *importer) slice(s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	kept := &discoveryv1.EndpointSlice{
		TypeMeta: kindOf("discovery.k8s.io/v1", "EndpointSlice"), ObjectMeta: i.meta(s),
		AddressType: s.AddressType, Ports: s.Ports, Endpoints: []discoveryv1.Endpoint{},
	}
	kept.Labels = map[string]string{discoveryv1.LabelServiceName: i.names.dotted(s.Labels[discoveryv1.LabelServiceName])}
	for _, endpoint := range s.Endpoints {
		addresses := slices.Clone(endpoint.Addresses)
		for n, one := range addresses {
			addresses[n] = i.names.host(one) // a name if the slice is of type FQDN
		}
		reduced := discoveryv1.Endpoint{Addresses: addresses, Conditions: endpoint.Conditions, Zone: endpoint.Zone}
		if endpoint.Hints != nil {
			reduced.Hints = &discoveryv1.EndpointHints{ForZones: endpoint.Hints.ForZones}
		}
		kept.Endpoints = append(kept.Endpoints, reduced)
	}
	return kept
}

func (i *importer) ingress(g *networkingv1.Ingress) *networkingv1.Ingress {
	kept := &networkingv1.Ingress{TypeMeta: kindOf("networking.k8s.io/v1", "Ingress"), ObjectMeta: i.meta(g)}
	kept.Annotations = i.annotations(g.Annotations)
	kept.Spec.IngressClassName = g.Spec.IngressClassName
	kept.Spec.DefaultBackend = i.backend(g.Spec.DefaultBackend)
	for _, entry := range g.Spec.TLS {
		reduced := networkingv1.IngressTLS{SecretName: i.names.dotted(entry.SecretName)}
		for _, host := range entry.Hosts {
			reduced.Hosts = append(reduced.Hosts, i.names.host(host))
		}
		kept.Spec.TLS = append(kept.Spec.TLS, reduced)
	}
	for _, rule := range g.Spec.Rules {
		reduced := networkingv1.IngressRule{Host: i.names.host(rule.Host)}
		if rule.HTTP != nil {
			reduced.HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{}}
			for _, path := range rule.HTTP.Paths {
				reduced.HTTP.Paths = append(reduced.HTTP.Paths, networkingv1.HTTPIngressPath{
					Path: path.Path, PathType: path.PathType, Backend: *i.backend(&path.Backend),
				})
			}
		}
		kept.Spec.Rules = append(kept.Spec.Rules, reduced)
	}
	return kept
}

func (i *importer) backend(b *networkingv1.IngressBackend) *networkingv1.IngressBackend {
	switch {
	case b == nil:
		return nil
	case b.Service != nil:
		return &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: i.names.dotted(b.Service.Name), Port: b.Service.Port}}
	case b.Resource != nil: // the controller reports it
		return &networkingv1.IngressBackend{Resource: &corev1.TypedLocalObjectReference{
			APIGroup: b.Resource.APIGroup, Kind: b.Resource.Kind, Name: i.names.dotted(b.Resource.Name),
		}}
	}
	return &networkingv1.IngressBackend{}
}

// annotations keeps the annotations of the controller, and the class.
func (i *importer) annotations(all map[string]string) map[string]string {
	kept := map[string]string{}
	for _, full := range slices.Sorted(maps.Keys(all)) {
		short, ours := strings.CutPrefix(full, i.AnnotationsPrefix+"/")
		switch {
		case full == classAnnotation:
			kept[full] = all[full]
		case ours:
			kept[full] = i.annotation(short, all[full])
		default:
			i.LeftOut["annotation that the controller does not read"]++
		}
	}
	return kept
}

// hostAnnotations have a host as their value, unless it has variables. server-alias has a list.
var hostAnnotations = []string{
	"upstream-vhost", "session-cookie-domain", "proxy-ssl-name", "mirror-host",
}

func (i *importer) annotation(short, value string) string {
	value = i.withoutSecrets(value)
	switch {
	case slices.Contains(configMapAnnotations, short), short == "default-backend", secretAnnotations[short] != 0:
		return i.names.reference(value)
	case short == "server-alias", slices.Contains(hostAnnotations, short) && !strings.Contains(value, "$"):
		hashed, expressions := i.names.list(value)
		if expressions > 0 {
			i.Replaced["regular expression in "+short]++
		}
		return hashed
	case short == "proxy-cookie-domain": // two domains
		var hashed []string
		for _, domain := range strings.Fields(value) {
			hashed = append(hashed, i.cookieDomain(domain))
		}
		return strings.Join(hashed, " ")
	case strings.HasSuffix(short, "-snippet"), short == "auth-tls-match-cn":
		i.Check["annotation "+short]++
	}
	return i.names.text(value)
}

func (i *importer) cookieDomain(domain string) string {
	if !strings.Contains(domain, ".") || strings.ContainsAny(domain, "~$") {
		return i.names.text(domain)
	}
	return i.names.host(domain)
}

// configMap keeps the entries of a ConfigMap. Its binaryData is not read by the controller.
func (i *importer) configMap(c *corev1.ConfigMap) *corev1.ConfigMap {
	kept := &corev1.ConfigMap{TypeMeta: kindOf("v1", "ConfigMap"), ObjectMeta: i.meta(c), Data: map[string]string{}}
	if len(c.BinaryData) > 0 {
		i.LeftOut["binary entry of a ConfigMap"] += len(c.BinaryData)
	}
	streams := nameOf(c) == i.TCPServices || nameOf(c) == i.UDPServices
	for key, value := range c.Data {
		value = i.withoutSecrets(value)
		switch {
		case streams:
			service, rest, found := strings.Cut(value, ":")
			if value = i.names.reference(service); found {
				value += ":" + rest
			}
		case nameOf(c) == i.ConfigMap && configObjects[key] != "":
			value = i.names.reference(value)
		case nameOf(c) == i.ConfigMap && key == "ssl-session-ticket-key":
			value = ticketKey(value)
			i.Replaced["key for session tickets"]++
		default:
			if strings.HasSuffix(key, "-snippet") || strings.HasPrefix(key, "log-format") {
				i.Check["ConfigMap key "+key]++
			} else if nameOf(c) != i.ConfigMap {
				i.Check["value of a header or parameter in a ConfigMap"]++
			}
			value = i.names.text(value)
		}
		kept.Data[key] = value
	}
	return kept
}
