package migrate

import (
	"cmp"
	"maps"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/migrate/report"
)

// defaultPods is the number of pods of a service if the manifests have no endpoints.
const defaultPods = 2

// SizeOf returns the size of the cluster that manifests describe: the ingresses that are tested, the
// services that they route to, and the average number of endpoints of those that have some.
func SizeOf(derived derive.Derived, manifests []manifest.Manifest) report.Size {
	size := report.Size{Pods: defaultPods}
	services := map[string]bool{}
	for _, c := range derived.Cases {
		size.Ingresses += len(c.Ingresses)
		for _, i := range c.Ingresses {
			for _, name := range i.Services {
				services[name] = true
			}
		}
	}
	size.Services = max(len(services), 1)
	sum, pods := 0, podsOf(manifests)
	maps.DeleteFunc(pods, func(service string, _ int) bool { return !services[service] })
	for _, n := range pods {
		sum += n
	}
	if n := len(pods); n > 0 {
		size.Pods = (sum + n/2) / n
	}
	return size
}

// podsOf returns the number of pods of each service that has some, by namespace/name. With two families
// of addresses, a service has slices for each, with the same pods.
func podsOf(manifests []manifest.Manifest) map[string]int {
	type family struct{ service, of string }
	endpoints, pods := map[family]int{}, map[string]int{}
	for _, m := range manifests {
		service := m.Object.GetLabels()[discoveryv1.LabelServiceName]
		all, _ := m.Object.Object["endpoints"].([]any)
		if m.Object.GetKind() != "EndpointSlice" || service == "" || len(all) == 0 {
			continue
		}
		of, _ := m.Object.Object["addressType"].(string)
		at := family{cmp.Or(m.Object.GetNamespace(), metav1.NamespaceDefault) + "/" + service, of}
		endpoints[at] += len(all)
		pods[at.service] = max(pods[at.service], endpoints[at])
	}
	return pods
}
