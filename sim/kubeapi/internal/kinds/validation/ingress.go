package validation

import (
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	segment "k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

const ingressClassAnnotation = "kubernetes.io/ingress.class"

func Ingress(ing, old *networkingv1.Ingress, _ resource.Cluster) (problems field.ErrorList) {
	spec, at := &ing.Spec, field.NewPath("spec")
	if len(spec.Rules) == 0 && spec.DefaultBackend == nil {
		problems = append(problems, field.Invalid(at, spec.Rules, "either `defaultBackend` or `rules` must be specified"))
	}
	if spec.DefaultBackend != nil {
		problems = append(problems, validateBackend(spec.DefaultBackend, at.Child("defaultBackend"))...)
	}
	for i := range spec.Rules {
		problems = append(problems, validateIngressRule(&spec.Rules[i], at.Child("rules").Index(i))...)
	}
	for i := range spec.TLS {
		problems = append(problems, validateIngressTLS(&spec.TLS[i], at.Child("tls").Index(i))...)
	}
	if spec.IngressClassName != nil {
		problems = append(problems, invalidAs(at.Child("ingressClassName"), *spec.IngressClassName, machinery.NameIsDNSSubdomain(*spec.IngressClassName, false))...)
	}
	if old == nil {
		problems = append(problems, validateIngressClassAnnotation(ing)...)
	} else {
		problems = append(problems, validateIngressStatus(&ing.Status, field.NewPath("status", "loadBalancer", "ingress"))...)
	}
	return problems
}

func validateIngressClassAnnotation(ing *networkingv1.Ingress) field.ErrorList {
	class, ok := ing.Annotations[ingressClassAnnotation]
	if !ok || ing.Spec.IngressClassName == nil || class == *ing.Spec.IngressClassName {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("annotations").Child(ingressClassAnnotation), class,
		"must match `ingressClassName` when both are specified")}
}

func validateIngressRule(rule *networkingv1.IngressRule, at *field.Path) (problems field.ErrorList) {
	if rule.Host != "" {
		if isIP(rule.Host) {
			problems = append(problems, field.Invalid(at.Child("host"), rule.Host, "must be a DNS name, not an IP address"))
		}
		problems = append(problems, validateHost(rule.Host, at.Child("host"))...)
	}
	if rule.HTTP == nil {
		return problems
	}
	paths := at.Child("http", "paths")
	if len(rule.HTTP.Paths) == 0 {
		problems = append(problems, field.Required(paths, ""))
	}
	for i := range rule.HTTP.Paths {
		problems = append(problems, validateIngressPath(&rule.HTTP.Paths[i], paths.Index(i))...)
	}
	return problems
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// validateHost accepts a DNS name, or a wildcard name such as *.example.com.
func validateHost(host string, at *field.Path) field.ErrorList {
	if strings.Contains(host, "*") {
		return invalidAs(at, host, validation.IsWildcardDNS1123Subdomain(host))
	}
	return invalidAs(at, host, validation.IsDNS1123Subdomain(host))
}

func validateIngressTLS(tls *networkingv1.IngressTLS, at *field.Path) (problems field.ErrorList) {
	for i, host := range tls.Hosts {
		problems = append(problems, validateHost(host, at.Child("hosts").Index(i))...)
	}
	if tls.SecretName != "" {
		problems = append(problems, invalidAs(at.Child("secretName"), tls.SecretName, machinery.NameIsDNSSubdomain(tls.SecretName, false))...)
	}
	return problems
}

func validateIngressPath(p *networkingv1.HTTPIngressPath, at *field.Path) (problems field.ErrorList) {
	if p.PathType == nil {
		return field.ErrorList{field.Required(at.Child("pathType"), "pathType must be specified")}
	}
	bad := func(detail string) {
		problems = append(problems, field.Invalid(at.Child("path"), p.Path, detail))
	}
	relative := !strings.HasPrefix(p.Path, "/")
	switch *p.PathType {
	case networkingv1.PathTypeExact, networkingv1.PathTypePrefix:
		if relative {
			bad("must be an absolute path")
		}
		for _, part := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(p.Path, part) {
				bad(fmt.Sprintf("must not contain '%s'", part))
			}
		}
		for _, end := range []string{"/..", "/."} {
			if strings.HasSuffix(p.Path, end) {
				bad(fmt.Sprintf("cannot end with '%s'", end))
			}
		}
	case networkingv1.PathTypeImplementationSpecific:
		if p.Path != "" && relative {
			bad("must be an absolute path")
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
		return validateReference(b.Resource, at.Child("resource"))
	case b.Service != nil:
		return validateServiceBackend(b.Service, at)
	}
	return field.ErrorList{field.Invalid(at, "", "resource or service backend is required")}
}

func validateServiceBackend(b *networkingv1.IngressServiceBackend, at *field.Path) (problems field.ErrorList) {
	name, port := at.Child("service", "name"), at.Child("service", "port")
	if b.Name == "" {
		problems = append(problems, field.Required(name, ""))
	} else {
		problems = append(problems, invalidAs(name, b.Name, machinery.NameIsDNSLabel(b.Name, false))...)
	}
	switch {
	case b.Port.Name != "" && b.Port.Number != 0:
		return append(problems, field.Invalid(at, "", "cannot set both port name & port number"))
	case b.Port.Name != "":
		return append(problems, invalidAs(port.Child("name"), b.Port.Name, validation.IsValidPortName(b.Port.Name))...)
	case b.Port.Number != 0:
		return append(problems, invalidAs(port.Child("number"), b.Port.Number, validation.IsValidPortNum(int(b.Port.Number)))...)
	}
	return append(problems, field.Required(at, "port name or number is required"))
}

func validateReference(ref *corev1.TypedLocalObjectReference, at *field.Path) (problems field.ErrorList) {
	if ref.APIGroup != nil {
		problems = append(problems, invalidAs(at.Child("apiGroup"), *ref.APIGroup, validation.IsDNS1123Subdomain(*ref.APIGroup))...)
	}
	for _, part := range []struct{ name, value string }{{"kind", ref.Kind}, {"name", ref.Name}} {
		if part.value == "" {
			problems = append(problems, field.Required(at.Child(part.name), ""))
			continue
		}
		problems = append(problems, invalidAs(at.Child(part.name), part.value, segment.IsValidPathSegmentName(part.value))...)
	}
	return problems
}

func validateIngressStatus(status *networkingv1.IngressStatus, at *field.Path) (problems field.ErrorList) {
	for i, lb := range status.LoadBalancer.Ingress {
		at := at.Index(i)
		if lb.IP != "" {
			problems = append(problems, validation.IsValidIPForLegacyField(at.Child("ip"), lb.IP, true, nil)...)
		}
		if lb.Hostname == "" {
			continue
		}
		problems = append(problems, invalidAs(at.Child("hostname"), lb.Hostname, validation.IsDNS1123Subdomain(lb.Hostname))...)
		if isIP(lb.Hostname) {
			problems = append(problems, field.Invalid(at.Child("hostname"), lb.Hostname, "must be a DNS name, not an IP address"))
		}
	}
	return problems
}

const maxControllerName = 250

func IngressClass(class, old *networkingv1.IngressClass, _ resource.Cluster) (problems field.ErrorList) {
	at := field.NewPath("spec", "controller")
	if len(class.Spec.Controller) > maxControllerName {
		problems = append(problems, field.TooLong(at, "", maxControllerName))
	}
	problems = append(problems, validation.IsDomainPrefixedPath(at, class.Spec.Controller)...)
	if old != nil {
		problems = append(problems, machinery.ValidateImmutableField(class.Spec.Controller, old.Spec.Controller, at)...)
	}
	return problems
}

// invalidAs returns one Invalid error for the value per message.
func invalidAs(at *field.Path, value any, messages []string) (problems field.ErrorList) {
	for _, message := range messages {
		problems = append(problems, field.Invalid(at, value, message))
	}
	return problems
}
