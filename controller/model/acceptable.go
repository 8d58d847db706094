package model

import (
	"errors"
	"fmt"
	"regexp"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/internal/plural"
)

const (
	// mostPaths limits the number of paths, and of rules, of an ingress. An API object has at most
	// 1.5 MB (etcd), and each path becomes 3 to 4 KB of nginx.conf.
	mostPaths = 5000
	// mostLines limits the lines that annotations add to nginx.conf once per path of an ingress.
	mostLines = 200000
)

var uidChars = regexp.MustCompile(`^[A-Za-z0-9_.-]*$`)

// Acceptable returns an error if Build would leave out the ingress because of its names or its
// number of paths.
func Acceptable(ingress *networkingv1.Ingress) error {
	if reason := unacceptable(ingress); reason != "" {
		return errors.New(reason)
	}
	return nil
}

// unacceptable returns the reason why an ingress is left out as a whole, or "". Either it has too
// many paths, or its names are invalid in the Kubernetes API. Such names come from manifest files,
// which the API has not validated, and they would appear in nginx.conf.
func unacceptable(ingress *networkingv1.Ingress) string {
	switch {
	case len(validation.IsDNS1123Subdomain(ingress.Name)) > 0:
		return fmt.Sprintf("metadata.name %s: not a DNS name (RFC 1123)", shown(ingress.Name))
	case len(validation.IsDNS1123Label(ingress.Namespace)) > 0:
		return fmt.Sprintf("metadata.namespace %s: not a DNS label (RFC 1123)", shown(ingress.Namespace))
	case !uidChars.MatchString(string(ingress.UID)):
		return fmt.Sprintf("metadata.uid %s: not a UID", shown(string(ingress.UID)))
	case len(ingress.Spec.Rules) > mostPaths || pathCount(ingress) > mostPaths:
		return fmt.Sprintf("more than %d rules or paths", mostPaths)
	}
	if wanted := ingress.Spec.DefaultBackend; wanted != nil {
		if reason := unacceptableService(wanted.Service); reason != "" {
			return "spec.defaultBackend: " + reason
		}
	}
	for path := range paths(ingress) {
		if reason := unacceptableService(path.Backend.Service); reason != "" {
			return path.key + ": " + reason
		}
	}
	return ""
}

func unacceptableService(service *networkingv1.IngressServiceBackend) string {
	switch {
	case service == nil:
	case service.Name != "" && len(validation.IsDNS1123Label(service.Name)) > 0:
		return fmt.Sprintf("service %s: not a DNS label (RFC 1123)", shown(service.Name))
	case service.Port.Name != "" && len(validation.IsValidPortName(service.Port.Name)) > 0:
		return fmt.Sprintf("port %s: not the name of a port", shown(service.Port.Name))
	}
	return ""
}

func pathCount(ingress *networkingv1.Ingress) int {
	count := 0
	for _, rule := range ingress.Spec.Rules {
		if rule.HTTP != nil {
			count += len(rule.HTTP.Paths)
		}
	}
	return count
}

// tooManyLines returns the reason why the annotations of an ingress add too many lines for its
// number of paths, or "". Its requests get 503, because dropping an access list could admit clients
// that it denies.
func tooManyLines(ingress *networkingv1.Ingress, set *annotations.Set) string {
	perPath := len(set.Allowlist.CIDR) + len(set.Denylist.CIDR) + len(set.CustomHTTPErrors) + len(set.ExternalAuth.ResponseHeaders) + len(set.CorsConfig.CorsAllowOrigin)
	if perPath*pathCount(ingress) <= mostLines {
		return ""
	}
	return fmt.Sprintf("lists of %s for each of %s exceed %d lines of nginx.conf", plural.Of(perPath, "item"), plural.Of(pathCount(ingress), "path"), mostLines)
}
