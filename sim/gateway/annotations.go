package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
)

// classAnnotation is the annotation for the class of ingresses from before spec.ingressClassName.
const classAnnotation = "kubernetes.io/ingress.class"

// needless are annotations of ingress-nginx with values that request the default behaviour of an
// HTTPRoute.
var needless = map[string]string{
	"nginx.ingress.kubernetes.io/ssl-redirect":       "false",
	"nginx.ingress.kubernetes.io/force-ssl-redirect": "false",
	"nginx.ingress.kubernetes.io/enable-global-auth": "false",
}

// ofController reports whether an annotation is for an ingress controller. Other annotations, such
// as those of tools, are copied to the routes.
func ofController(name string) bool {
	domain, _, _ := strings.Cut(name, "/")
	return strings.HasSuffix(domain, "ingress.kubernetes.io") || name == classAnnotation
}

// CheckAnnotations returns an error that names the annotations of an ingress that HTTPRoutes cannot
// express.
func CheckAnnotations(annotations map[string]string) error {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		value, known := needless[name]
		if ofController(name) && name != classAnnotation && (!known || value != annotations[name]) {
			wrong = append(wrong, fmt.Sprintf("%s: %q", name, annotations[name]))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("HTTPRoutes cannot express the %s %s", plural.Noun(len(wrong), "annotation"), strings.Join(wrong, ", "))
}
