package kubeapi

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The validation that ingress users meet (kube-apiserver: pkg/apis/<group>/validation);
// metadata is validated for every kind.

func validateSecret(secret, old *corev1.Secret) (problems field.ErrorList) {
	if old != nil && secret.Type != old.Type {
		problems = append(problems, field.Invalid(field.NewPath("type"), secret.Type, "field is immutable"))
	}
	var needed []string
	switch secret.Type {
	case corev1.SecretTypeTLS:
		needed = []string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey}
	case corev1.SecretTypeDockerConfigJson:
		needed = []string{corev1.DockerConfigJsonKey}
	}
	for _, key := range needed {
		if _, ok := secret.Data[key]; !ok {
			problems = append(problems, field.Required(field.NewPath("data").Key(key), ""))
		}
	}
	return problems
}

func validateService(svc, old *corev1.Service) (problems field.ErrorList) {
	spec := field.NewPath("spec")
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		if svc.Spec.ExternalName == "" {
			problems = append(problems, field.Required(spec.Child("externalName"), ""))
		}
		return problems
	}
	if len(svc.Spec.Ports) == 0 && svc.Spec.ClusterIP != corev1.ClusterIPNone {
		problems = append(problems, field.Required(spec.Child("ports"), ""))
	}
	for i, port := range svc.Spec.Ports {
		at := spec.Child("ports").Index(i)
		if port.Name == "" && len(svc.Spec.Ports) > 1 {
			problems = append(problems, field.Required(at.Child("name"), ""))
		}
		problems = append(problems, validatePort(port.Port, at.Child("port"))...)
	}
	if old != nil && old.Spec.ClusterIP != svc.Spec.ClusterIP && old.Spec.Type != corev1.ServiceTypeExternalName {
		problems = append(problems, field.Invalid(spec.Child("clusterIPs").Index(0), svc.Spec.ClusterIPs, "may not change once set"))
	}
	return problems
}

func validatePort(port int32, at *field.Path) field.ErrorList {
	if port < 1 || port > 65535 {
		return field.ErrorList{field.Invalid(at, port, "must be between 1 and 65535, inclusive")}
	}
	return nil
}

const (
	maxEndpoints = 1000
	maxAddresses = 100
	maxPorts     = 20000
)

func validateEndpointSlice(slice, old *discoveryv1.EndpointSlice) (problems field.ErrorList) {
	addressType, endpoints := field.NewPath("addressType"), field.NewPath("endpoints")
	switch slice.AddressType {
	case discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6, discoveryv1.AddressTypeFQDN:
	case "":
		problems = append(problems, field.Required(addressType, ""))
	default:
		problems = append(problems, field.NotSupported(addressType, slice.AddressType,
			[]discoveryv1.AddressType{discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}))
	}
	if old != nil && old.AddressType != slice.AddressType {
		problems = append(problems, field.Invalid(addressType, slice.AddressType, "field is immutable"))
	}
	if n := len(slice.Endpoints); n > maxEndpoints {
		problems = append(problems, field.TooMany(endpoints, n, maxEndpoints))
	}
	for i, endpoint := range slice.Endpoints {
		at := endpoints.Index(i).Child("addresses")
		switch n := len(endpoint.Addresses); {
		case n == 0:
			problems = append(problems, field.Required(at, "must contain at least 1 address"))
		case n > maxAddresses:
			problems = append(problems, field.TooMany(at, n, maxAddresses))
		}
	}
	if n := len(slice.Ports); n > maxPorts {
		problems = append(problems, field.TooMany(field.NewPath("ports"), n, maxPorts))
	}
	return problems
}

func validateIngress(ing, _ *networkingv1.Ingress) (problems field.ErrorList) {
	spec := field.NewPath("spec")
	if len(ing.Spec.Rules) == 0 && ing.Spec.DefaultBackend == nil {
		problems = append(problems, field.Invalid(spec, ing.Spec.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	if ing.Spec.DefaultBackend != nil {
		problems = append(problems, validateBackend(ing.Spec.DefaultBackend, spec.Child("defaultBackend"))...)
	}
	for i, rule := range ing.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		paths := spec.Child("rules").Index(i).Child("http", "paths")
		if len(rule.HTTP.Paths) == 0 {
			problems = append(problems, field.Required(paths, ""))
		}
		for j := range rule.HTTP.Paths {
			problems = append(problems, validateIngressPath(&rule.HTTP.Paths[j], paths.Index(j))...)
		}
	}
	return problems
}

func validateIngressPath(p *networkingv1.HTTPIngressPath, at *field.Path) (problems field.ErrorList) {
	if p.PathType == nil {
		return field.ErrorList{field.Required(at.Child("pathType"), "pathType must be specified")}
	}
	absolute := strings.HasPrefix(p.Path, "/")
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if !absolute {
			problems = append(problems, field.Invalid(at.Child("path"), p.Path, "must be an absolute path"))
		}
		for _, bad := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(p.Path, bad) {
				problems = append(problems, field.Invalid(at.Child("path"), p.Path, fmt.Sprintf("must not contain '%s'", bad)))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && !absolute {
			problems = append(problems, field.Invalid(at.Child("path"), p.Path, "must be an absolute path"))
		}
	default:
		problems = append(problems, field.NotSupported(at.Child("pathType"), *p.PathType, []networkingv1.PathType{
			networkingv1.PathTypeExact, networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix}))
	}
	return append(problems, validateBackend(&p.Backend, at.Child("backend"))...)
}

func validateBackend(b *networkingv1.IngressBackend, at *field.Path) field.ErrorList {
	switch {
	case b.Resource != nil && b.Service != nil:
		return field.ErrorList{field.Invalid(at, "", "cannot set both resource and service backends")}
	case b.Resource != nil:
		return nil
	case b.Service == nil:
		return field.ErrorList{field.Required(at, "resource or service backend is required")}
	case b.Service.Name == "":
		return field.ErrorList{field.Required(at.Child("service", "name"), "")}
	case b.Service.Port.Name != "" && b.Service.Port.Number != 0:
		return field.ErrorList{field.Invalid(at, "", "cannot set both port name & port number")}
	case b.Service.Port.Name == "" && b.Service.Port.Number == 0:
		return field.ErrorList{field.Required(at, "port name or number is required")}
	case b.Service.Port.Number != 0:
		return validatePort(b.Service.Port.Number, at.Child("service", "port", "number"))
	}
	return nil
}
