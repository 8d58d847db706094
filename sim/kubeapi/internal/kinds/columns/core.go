// Package columns defines how kubectl get shows the built-in kinds. It stands between their Go
// types and the rows of a Table. Its one rule: columns and cells are the same as kube-apiserver's
// (pkg/printers/internalversion).
package columns

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Columns of the core kinds (kube-apiserver: pkg/printers/internalversion).

var ConfigMap = resource.NewPrinter("Name Data Age", func(cm *corev1.ConfigMap, now time.Time) []any {
	return []any{cm.Name, len(cm.Data) + len(cm.BinaryData), resource.Age(cm, now)}
})

var Secret = resource.NewPrinter("Name Type Data Age", func(secret *corev1.Secret, now time.Time) []any {
	return []any{secret.Name, string(secret.Type), len(secret.Data), resource.Age(secret, now)}
})

var Namespace = resource.NewPrinter("Name Status Age", func(ns *corev1.Namespace, now time.Time) []any {
	return []any{ns.Name, string(ns.Status.Phase), resource.Age(ns, now)}
})

var Node = resource.NewPrinter("Name Status Roles Age Version +Internal-IP +External-IP +OS-Image +Kernel-Version +Container-Runtime", func(node *corev1.Node, now time.Time) []any {
	status := "Unknown"
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			status = map[bool]string{true: "Ready", false: "NotReady"}[c.Status == corev1.ConditionTrue]
		}
	}
	if node.Spec.Unschedulable {
		status += ",SchedulingDisabled"
	}
	var roles []string
	for label, value := range node.Labels {
		if role, ok := strings.CutPrefix(label, "node-role.kubernetes.io/"); ok {
			roles = append(roles, role)
		} else if label == "kubernetes.io/role" {
			roles = append(roles, value)
		}
	}
	info := node.Status.NodeInfo
	kernel := orUnknown(info.KernelVersion)
	if info.Architecture != "" {
		kernel += " (" + info.Architecture + ")"
	}
	return []any{node.Name, status, joined(eachOnce(roles)), resource.Age(node, now), info.KubeletVersion, nodeAddress(node, corev1.NodeInternalIP), nodeAddress(node, corev1.NodeExternalIP),
		orUnknown(info.OSImage), kernel, orUnknown(info.ContainerRuntimeVersion)}
})

func nodeAddress(node *corev1.Node, kind corev1.NodeAddressType) string {
	for _, address := range node.Status.Addresses {
		if address.Type == kind {
			return address.Address
		}
	}
	return "<none>"
}

func orUnknown(text string) string {
	if text == "" {
		return "<unknown>"
	}
	return text
}

var Service = resource.NewPrinter("Name Type Cluster-IP External-IP Port(s) Age +Selector", func(svc *corev1.Service, now time.Time) []any {
	return []any{svc.Name, string(svc.Spec.Type), orNone(svc.Spec.ClusterIP), externalIP(svc), orNone(servicePorts(svc)), resource.Age(svc, now),
		orNone(metav1.FormatLabelSelector(metav1.SetAsLabelSelector(svc.Spec.Selector)))}
})

func externalIP(svc *corev1.Service) string {
	switch svc.Spec.Type {
	case corev1.ServiceTypeExternalName:
		return svc.Spec.ExternalName
	case corev1.ServiceTypeLoadBalancer:
		var balancer []string
		for _, ingress := range svc.Status.LoadBalancer.Ingress {
			balancer = append(balancer, cmp.Or(ingress.IP, ingress.Hostname))
		}
		return cmp.Or(strings.Join(append(eachOnce(balancer), svc.Spec.ExternalIPs...), ","), "<pending>")
	}
	return joined(svc.Spec.ExternalIPs)
}

// eachOnce sorts texts and removes duplicates and empty texts.
func eachOnce(texts []string) []string {
	slices.Sort(texts)
	return slices.DeleteFunc(slices.Compact(texts), func(text string) bool { return text == "" })
}

func servicePorts(svc *corev1.Service) string {
	var ports []string
	for _, p := range svc.Spec.Ports {
		if p.NodePort > 0 {
			ports = append(ports, fmt.Sprintf("%d:%d/%s", p.Port, p.NodePort, p.Protocol))
		} else {
			ports = append(ports, fmt.Sprintf("%d/%s", p.Port, p.Protocol))
		}
	}
	return strings.Join(ports, ",")
}

var ServiceAccount = resource.NewPrinter("Name Age", func(account *corev1.ServiceAccount, now time.Time) []any {
	return []any{account.Name, resource.Age(account, now)}
})

var ResourceQuota = resource.NewPrinter("Name Request Limit Age", func(quota *corev1.ResourceQuota, now time.Time) []any {
	var requests, limits []string
	for _, name := range slices.Sorted(maps.Keys(quota.Status.Hard)) {
		used, hard := quota.Status.Used[name], quota.Status.Hard[name]
		text := fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String())
		if strings.HasPrefix(string(name), "limits.") {
			limits = append(limits, text)
		} else {
			requests = append(requests, text)
		}
	}
	return []any{quota.Name, strings.Join(requests, ", "), strings.Join(limits, ", "), resource.Age(quota, now)}
})

var Endpoints = resource.NewPrinter("Name Endpoints Age", func(ep *corev1.Endpoints, now time.Time) []any {
	var all []string
	for _, subset := range ep.Subsets {
		if len(subset.Ports) == 0 {
			for _, address := range subset.Addresses {
				all = append(all, address.IP)
			}
		}
		for _, port := range subset.Ports {
			for _, address := range subset.Addresses {
				all = append(all, net.JoinHostPort(address.IP, strconv.Itoa(int(port.Port))))
			}
		}
	}
	return []any{ep.Name, firstOf(all), resource.Age(ep, now)}
})

var Event = resource.NewPrinter("Last_Seen Type Reason Object +Subobject +Source Message +First_Seen +Count +Name", func(ev *corev1.Event, now time.Time) []any {
	first, seen, count := ev.FirstTimestamp, ev.LastTimestamp, cmp.Or(ev.Count, 1)
	if first.IsZero() {
		first = metav1.NewTime(ev.EventTime.Time)
	}
	if seen.IsZero() {
		seen = first
	}
	if ev.Series != nil {
		seen, count = metav1.NewTime(ev.Series.LastObservedTime.Time), ev.Series.Count
	}
	about := strings.ToLower(ev.InvolvedObject.Kind)
	if ev.InvolvedObject.Name != "" {
		about += "/" + ev.InvolvedObject.Name
	}
	source := cmp.Or(ev.Source.Component, ev.ReportingController)
	if host := cmp.Or(ev.Source.Host, ev.ReportingInstance); host != "" {
		source += ", " + host
	}
	return []any{resource.Since(seen, now), ev.Type, ev.Reason, about, ev.InvolvedObject.FieldPath, source, strings.TrimSpace(ev.Message), resource.Since(first, now), int64(count), ev.Name}
})

func orNone(text string) string {
	if text == "" {
		return "<none>"
	}
	return text
}

func joined(texts []string) string { return orNone(strings.Join(texts, ",")) }

// firstOf returns the first three texts and the number of texts left out.
func firstOf(texts []string) string {
	const most = 3
	if len(texts) <= most {
		return joined(texts)
	}
	return fmt.Sprintf("%s + %d more...", joined(texts[:most]), len(texts)-most)
}
