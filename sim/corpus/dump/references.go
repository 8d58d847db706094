package dump

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// use is the set of parts of a Secret that a controller reads.
type use int

const (
	asCertificate use = 1 << iota // tls.crt, tls.key
	asAuthority                   // ca.crt, ca.crl
	asAuthFile                    // auth
	asAuthMap                     // every key is the name of a user
	asDHParam                     // dhparam.pem
)

// references are the objects that a controller reads, because an ingress, a ConfigMap or a flag
// names them.
type references struct {
	services   map[name]bool
	secrets    map[name]use
	configMaps map[name]bool
}

func (i *importer) references() references {
	r := references{services: map[name]bool{}, secrets: map[name]use{}, configMaps: map[name]bool{}}
	for _, one := range []name{i.ConfigMap, i.TCPServices, i.UDPServices} {
		r.configMaps[one] = true
	}
	r.services[i.DefaultBackendService] = true
	r.secrets[i.DefaultSSLCertificate] |= asCertificate
	if config := i.configMaps[i.ConfigMap]; config != nil {
		i.ofConfig(config, &r)
	}
	for _, streams := range []name{i.TCPServices, i.UDPServices} {
		if config := i.configMaps[streams]; config != nil {
			for _, value := range config.Data {
				service, _, _ := strings.Cut(value, ":")
				r.services[parseName(service, "")] = true
			}
		}
	}
	for _, ingress := range i.ingresses {
		i.ofIngress(ingress, &r)
	}
	return r
}

// ofConfig adds the objects that keys of the controller's ConfigMap name.
func (i *importer) ofConfig(config *corev1.ConfigMap, r *references) {
	for key, kind := range configObjects {
		named := parseName(config.Data[key], "")
		switch kind {
		case "ConfigMap":
			r.configMaps[named] = true
		case "Secret":
			r.secrets[named] |= asDHParam
		}
	}
}

// configObjects are the keys of the controller's ConfigMap that name objects, with their kinds.
var configObjects = map[string]string{"add-headers": "ConfigMap", "proxy-set-headers": "ConfigMap", "ssl-dh-param": "Secret"}

// configMapAnnotations and secretAnnotations name objects, as namespace/name or name.
var (
	configMapAnnotations = []string{"custom-headers", "auth-proxy-set-headers", "fastcgi-params-configmap"}
	secretAnnotations    = map[string]use{
		"auth-secret":      asAuthFile,
		"auth-tls-secret":  asAuthority | asCertificate,
		"proxy-ssl-secret": asAuthority | asCertificate,
	}
)

func (i *importer) ofIngress(ingress *networkingv1.Ingress, r *references) {
	own := func(short string) string { return ingress.Annotations[i.AnnotationsPrefix+"/"+short] }
	for _, annotation := range configMapAnnotations {
		r.configMaps[parseName(own(annotation), ingress.Namespace)] = true
	}
	for annotation, how := range secretAnnotations {
		if annotation == "auth-secret" && strings.TrimSpace(own("auth-secret-type")) == "auth-map" {
			how = asAuthMap
		}
		r.secrets[parseName(own(annotation), ingress.Namespace)] |= how
	}
	r.services[parseName(own("default-backend"), ingress.Namespace)] = true
	for _, entry := range ingress.Spec.TLS {
		r.secrets[name{Namespace: ingress.Namespace, Name: entry.SecretName}] |= asCertificate
	}
	backend := func(b *networkingv1.IngressBackend) {
		if b != nil && b.Service != nil {
			r.services[name{Namespace: ingress.Namespace, Name: b.Service.Name}] = true
		}
	}
	backend(ingress.Spec.DefaultBackend)
	for _, rule := range ingress.Spec.Rules {
		if rule.HTTP != nil {
			for n := range rule.HTTP.Paths {
				backend(&rule.HTTP.Paths[n].Backend)
			}
		}
	}
}

// parseName parses namespace/name, or a name in a namespace.
func parseName(text, namespace string) name {
	text = strings.TrimSpace(text)
	if before, after, found := strings.Cut(text, "/"); found {
		return name{Namespace: before, Name: after}
	}
	return name{Namespace: namespace, Name: text}
}

// learnHosts collects the hosts of the cluster, which hashed texts must not contain.
func (i *importer) learnHosts() {
	for _, ingress := range i.ingresses {
		for _, rule := range ingress.Spec.Rules {
			i.names.learn(rule.Host)
		}
		for _, entry := range ingress.Spec.TLS {
			for _, host := range entry.Hosts {
				i.names.learn(host)
			}
		}
		for alias := range strings.SplitSeq(ingress.Annotations[i.AnnotationsPrefix+"/server-alias"], ",") {
			i.names.learn(strings.TrimSpace(alias))
		}
	}
	for _, service := range i.services {
		i.names.learn(service.Spec.ExternalName)
	}
}

// keep returns the objects that are wanted, sorted by name, and counts the others.
func keep[T any](i *importer, kind string, all map[name]T, wanted func(name) bool) []T {
	var kept []T
	for _, one := range slices.SortedFunc(maps.Keys(all), func(a, b name) int { return strings.Compare(a.String(), b.String()) }) {
		if wanted(one) {
			kept = append(kept, all[one])
		} else {
			i.LeftOut[kind+" that nothing refers to"]++
		}
	}
	return kept
}
