package installed

import (
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/cluster"
)

// hosts are the names of hosts in lower case, each with the ingress that has it: namespace/name.
type hosts map[string]string

func (h hosts) add(ingress *networkingv1.Ingress) {
	for _, host := range hostsOf(ingress) {
		h[host] = ingress.Namespace + "/" + ingress.Name
	}
}

// admit returns an error if an ingress would change what is served at a host of others.
func (h hosts) admit(object *unstructured.Unstructured) error {
	ingress, err := asIngress(object)
	if err != nil {
		return nil //nolint:nilerr // the API server says what is wrong with it
	}
	for _, host := range hostsOf(ingress) {
		for taken, by := range h {
			if host == taken || covers(host, taken) || covers(taken, host) {
				return fmt.Errorf("%s: host %s is %w: ingress %s has the host %s", cluster.Name(object), host, cluster.ErrNotOurs, by, taken)
			}
		}
	}
	return nil
}

// covers reports whether a wildcard host stands for another host: *.example for shop.example.
func covers(wildcard, host string) bool {
	suffix, is := strings.CutPrefix(wildcard, "*")
	return is && strings.HasSuffix(host, suffix)
}

// annotation returns the value of an annotation, whatever prefix the controller expects.
func annotation(ingress *networkingv1.Ingress, name string) string {
	for key, value := range ingress.Annotations {
		if strings.HasSuffix(key, "/"+name) {
			return value
		}
	}
	return ""
}

// aliases returns the values of the annotation server-alias. Those that begin with ~ are regular
// expressions.
func aliases(ingress *networkingv1.Ingress) []string {
	var all []string
	for alias := range strings.SplitSeq(annotation(ingress, "server-alias"), ",") {
		if alias = strings.ToLower(strings.TrimSpace(alias)); alias != "" {
			all = append(all, alias)
		}
	}
	return all
}

// hostsOf returns the hosts of an ingress, including its aliases and the hosts that are redirected to
// it.
func hostsOf(ingress *networkingv1.Ingress) []string {
	all := aliases(ingress)
	for _, rule := range ingress.Spec.Rules {
		if rule.Host == "" {
			continue
		}
		host := strings.ToLower(rule.Host)
		all = append(all, host)
		if annotation(ingress, "from-to-www-redirect") == "true" {
			if bare, is := strings.CutPrefix(host, "www."); is {
				all = append(all, bare)
			} else {
				all = append(all, "www."+host)
			}
		}
	}
	return all
}
