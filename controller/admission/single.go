package admission

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// Patterns of ingress-nginx: for the UID, which becomes part of names in nginx.conf, and for paths
// that nginx matches literally.
var (
	uuid      = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	plainPath = regexp.MustCompile(`(?i)^/[[:alnum:]._\-/]*$`)
)

// checkAlone returns an error if an ingress is invalid regardless of the rest of the cluster.
func checkAlone(ingress *networkingv1.Ingress, opts options.Options) error {
	if !uuid.MatchString(string(ingress.UID)) {
		return fmt.Errorf("metadata.uid %q: not a UUID", ingress.UID)
	}
	if err := model.Acceptable(ingress); err != nil {
		return err
	}
	if bad := strangePaths(ingress); opts.Config.StrictValidatePathType && len(bad) > 0 {
		return errors.New(strings.Join(bad, "; "))
	}
	prefix := cmp.Or(opts.AnnotationsPrefix, annotations.DefaultPrefix)
	for _, name := range slices.Sorted(maps.Keys(ingress.Annotations)) {
		if prefix != annotations.DefaultPrefix && strings.HasPrefix(name, annotations.DefaultPrefix+"/") {
			return fmt.Errorf("annotation %s: this controller's annotations begin with %s (--annotations-prefix)", name, prefix)
		}
		// The prefix does not matter: the annotation may be for another ingress controller.
		if strings.HasSuffix(name, "-snippet") && !opts.Config.AllowSnippetAnnotations {
			return fmt.Errorf("annotation %s: snippets are disabled by the administrator (allow-snippet-annotations)", name)
		}
	}
	_, _, err := annotations.Parse(ingress, opts)
	return err
}

// mostMessages bounds the number of messages of one kind: people read only the first ones, and the
// API server drops long texts.
const mostMessages = 20

// strangePaths returns an error text for each path that strict-validate-path-type forbids: its
// characters make sense only in a regular expression, but its type is Exact or Prefix.
func strangePaths(ingress *networkingv1.Ingress) []string {
	var found []string
	for _, rule := range ingress.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			if path.PathType == nil || *path.PathType == networkingv1.PathTypeImplementationSpecific || path.Path == "" || plainPath.MatchString(path.Path) {
				continue
			}
			if len(found) == mostMessages {
				return append(found, "and more")
			}
			found = append(found, fmt.Sprintf("path %q cannot have the pathType %s: use ImplementationSpecific", path.Path, *path.PathType))
		}
	}
	return found
}

// warnings returns texts about mistakes that do not deny an ingress.
func warnings(ingress *networkingv1.Ingress, opts options.Options) []string {
	prefix := cmp.Or(opts.AnnotationsPrefix, annotations.DefaultPrefix) + "/"
	var found []string
	for _, name := range slices.Sorted(maps.Keys(ingress.Annotations)) {
		short, ours := strings.CutPrefix(name, prefix)
		if ours && (strings.HasPrefix(short, "influxdb-") || short == "enable-influxdb" || short == "secure-verify-ca-secret") {
			found = append(found, fmt.Sprintf("annotation %s no longer has an effect", name))
		}
	}
	return append(found, strangePaths(ingress)...)
}
