package columns

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

var Ingress = resource.NewPrinter("Name Class Hosts Address Ports Age", func(ing *networkingv1.Ingress, now time.Time) []any {
	class, ports := "", "80" // the annotation kubernetes.io/ingress.class is not shown
	if ing.Spec.IngressClassName != nil {
		class = *ing.Spec.IngressClassName
	}
	if len(ing.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	var addresses []string
	for _, lb := range ing.Status.LoadBalancer.Ingress {
		addresses = append(addresses, cmp.Or(lb.IP, lb.Hostname))
	}
	return []any{ing.Name, orNone(class), hosts(ing.Spec.Rules), strings.Join(eachOnce(addresses), ","), ports, resource.Age(ing, now)}
})

// hosts returns the first three hosts and the number of other rules, which includes those without a host.
func hosts(rules []networkingv1.IngressRule) string {
	const most = 3
	var first []string
	for _, rule := range rules {
		if len(first) == most {
			return fmt.Sprintf("%s + %d more...", strings.Join(first, ","), len(rules)-most)
		}
		if rule.Host != "" {
			first = append(first, rule.Host)
		}
	}
	return cmp.Or(strings.Join(first, ","), "*")
}

var IngressClass = resource.NewPrinter("Name Controller Parameters Age", func(class *networkingv1.IngressClass, now time.Time) []any {
	name, parameters := class.Name, "<none>"
	if class.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
		name += " (default)"
	}
	if p := class.Spec.Parameters; p != nil {
		parameters = p.Kind + "/" + p.Name
		if p.APIGroup != nil {
			parameters = p.Kind + "." + *p.APIGroup + "/" + p.Name
		}
	}
	return []any{name, class.Spec.Controller, parameters, resource.Age(class, now)}
})

var EndpointSlice = resource.NewPrinter("Name AddressType Ports Endpoints Age", func(slice *discoveryv1.EndpointSlice, now time.Time) []any {
	var ports, addresses []string
	for _, p := range slice.Ports {
		switch {
		case p.Port != nil:
			ports = append(ports, fmt.Sprint(*p.Port))
		case p.Name != nil:
			ports = append(ports, *p.Name)
		default:
			ports = append(ports, "*")
		}
	}
	for _, e := range slice.Endpoints {
		addresses = append(addresses, e.Addresses...)
	}
	return []any{slice.Name, string(slice.AddressType), unset(firstOf(ports)), unset(firstOf(addresses)), resource.Age(slice, now)}
})

// unset replaces <none> by <unset>, which kubectl prints for endpoint slices.
func unset(text string) string {
	if text == "<none>" {
		return "<unset>"
	}
	return text
}

var Lease = resource.NewPrinter("Name Holder Age", func(lease *coordinationv1.Lease, now time.Time) []any {
	holder := ""
	if lease.Spec.HolderIdentity != nil {
		holder = *lease.Spec.HolderIdentity
	}
	return []any{lease.Name, holder, resource.Age(lease, now)}
})
