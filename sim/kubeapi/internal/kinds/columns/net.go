package columns

import (
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

var Ingress = resource.NewPrinter("Name Class Hosts Address Ports Age", func(ing *networkingv1.Ingress, now time.Time) []any {
	class, ports := ing.Annotations["kubernetes.io/ingress.class"], "80"
	if ing.Spec.IngressClassName != nil {
		class = *ing.Spec.IngressClassName
	}
	if len(ing.Spec.TLS) > 0 {
		ports = "80, 443"
	}
	var hosts, addresses []string
	for _, rule := range ing.Spec.Rules {
		if rule.Host != "" {
			hosts = append(hosts, rule.Host)
		}
	}
	if len(hosts) == 0 {
		hosts = []string{"*"}
	}
	for _, lb := range ing.Status.LoadBalancer.Ingress {
		addresses = append(addresses, lb.IP+lb.Hostname) // one of the two is set
	}
	return []any{ing.Name, orNone(class), firstOf(hosts), strings.Join(addresses, ","), ports, resource.Age(ing, now)}
})

var IngressClass = resource.NewPrinter("Name Controller Parameters Age", func(class *networkingv1.IngressClass, now time.Time) []any {
	parameters := "<none>"
	if p := class.Spec.Parameters; p != nil {
		parameters = p.Kind + "/" + p.Name
		if p.APIGroup != nil {
			parameters = p.Kind + "." + *p.APIGroup + "/" + p.Name
		}
	}
	return []any{class.Name, class.Spec.Controller, parameters, resource.Age(class, now)}
})

var EndpointSlice = resource.NewPrinter("Name AddressType Ports Endpoints Age", func(slice *discoveryv1.EndpointSlice, now time.Time) []any {
	var ports, addresses []string
	for _, p := range slice.Ports {
		if p.Port == nil {
			ports = append(ports, "*")
		} else {
			ports = append(ports, fmt.Sprint(*p.Port))
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
