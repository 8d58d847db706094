package installed

import (
	"fmt"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/internal/ingresshost"
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
			if host == taken || ingresshost.WildcardCovers(host, taken) || ingresshost.WildcardCovers(taken, host) {
				return fmt.Errorf("%s: host %s is %w: ingress %s has the host %s", cluster.Name(object), host, cluster.ErrNotOurs, by, taken)
			}
		}
	}
	return nil
}

// hostsOf returns the hosts of an ingress, including its aliases and the hosts that are redirected to
// it.
func hostsOf(ingress *networkingv1.Ingress) []string {
	all := ingresshost.Aliases(ingress.Annotations)
	redirects := ingresshost.RedirectsWWW(ingress.Annotations)
	for _, rule := range ingress.Spec.Rules {
		if rule.Host == "" {
			continue
		}
		all = append(all, rule.Host)
		if redirects {
			all = append(all, ingresshost.OtherWWW(rule.Host))
		}
	}
	for i, host := range all {
		all[i] = strings.ToLower(host)
	}
	return all
}
