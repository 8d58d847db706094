package status

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Addresses selects the source of the addresses: Fixed if it is set, else Service if it is set,
// else the nodes on which the controller's pods run.
type Addresses struct {
	Fixed        []string             // --publish-status-address: IP addresses and host names
	Service      types.NamespacedName // --publish-service
	NodeInternal bool                 // --report-node-internal-ip-address: use internal addresses of nodes
}

// look returns the current addresses, sorted and without duplicates.
func (a Addresses) look(ctx context.Context, client kubernetes.Interface, own *corev1.Pod) ([]networkingv1.IngressLoadBalancerIngress, error) {
	found, err := a.find(ctx, client, own)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b networkingv1.IngressLoadBalancerIngress) int {
		return cmp.Or(cmp.Compare(a.IP, b.IP), cmp.Compare(a.Hostname, b.Hostname))
	})
	return slices.CompactFunc(found, func(a, b networkingv1.IngressLoadBalancerIngress) bool {
		return a.IP == b.IP && a.Hostname == b.Hostname
	}), nil
}

func address(text string) networkingv1.IngressLoadBalancerIngress {
	if net.ParseIP(text) != nil {
		return networkingv1.IngressLoadBalancerIngress{IP: text}
	}
	return networkingv1.IngressLoadBalancerIngress{Hostname: text}
}

// addresses returns the addresses in texts and skips empty texts.
func addresses(texts ...string) []networkingv1.IngressLoadBalancerIngress {
	var all []networkingv1.IngressLoadBalancerIngress
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, address(text))
		}
	}
	return all
}

func (a Addresses) find(ctx context.Context, client kubernetes.Interface, own *corev1.Pod) ([]networkingv1.IngressLoadBalancerIngress, error) {
	if len(a.Fixed) > 0 {
		return addresses(a.Fixed...), nil
	}
	if a.Service.Name != "" {
		service, err := client.CoreV1().Services(a.Service.Namespace).Get(ctx, a.Service.Name, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("--publish-service %s: %w", a.Service, err)
		}
		return ofService(service), nil
	}
	nodes, err := a.ofNodes(ctx, client, own)
	return addresses(nodes...), err
}

// ofService returns the addresses of a Service, depending on its type.
func ofService(service *corev1.Service) []networkingv1.IngressLoadBalancerIngress {
	spec := service.Spec
	switch spec.Type {
	case corev1.ServiceTypeExternalName:
		return addresses(spec.ExternalName)
	case corev1.ServiceTypeNodePort:
		if len(spec.ExternalIPs) > 0 {
			return addresses(spec.ExternalIPs...)
		}
	case corev1.ServiceTypeLoadBalancer:
		var given []networkingv1.IngressLoadBalancerIngress
		for _, ingress := range service.Status.LoadBalancer.Ingress {
			given = append(given, networkingv1.IngressLoadBalancerIngress{IP: ingress.IP, Hostname: ingress.Hostname})
		}
		return append(given, addresses(spec.ExternalIPs...)...)
	}
	return addresses(spec.ClusterIP)
}

// ofNodes returns the addresses of the nodes that run a ready pod of the controller. It skips nodes
// that cannot be read.
func (a Addresses) ofNodes(ctx context.Context, client kubernetes.Interface, own *corev1.Pod) ([]string, error) {
	pods, err := siblings(ctx, client, own)
	if err != nil {
		return nil, err
	}
	var found []string
	seen := make(map[string]bool)
	for _, pod := range pods {
		if seen[pod.Spec.NodeName] || !ready(&pod) {
			continue
		}
		seen[pod.Spec.NodeName] = true
		if node, err := client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{}); err == nil {
			found = append(found, a.ofNode(node))
		}
	}
	return found, nil
}

func (a Addresses) ofNode(node *corev1.Node) string {
	of := make(map[corev1.NodeAddressType]string)
	for _, address := range node.Status.Addresses {
		if of[address.Type] == "" {
			of[address.Type] = address.Address
		}
	}
	if a.NodeInternal {
		return of[corev1.NodeInternalIP]
	}
	return cmp.Or(of[corev1.NodeExternalIP], of[corev1.NodeInternalIP])
}

// distinct are labels that differ between pods of one controller: those for revisions of its
// workload, and those for each pod of a StatefulSet.
var distinct = []string{
	"pod-template-hash", "controller-revision-hash", "pod-template-generation",
	"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index",
}

// siblings returns the pods with the same labels as our own, including our own.
func siblings(ctx context.Context, client kubernetes.Interface, own *corev1.Pod) ([]corev1.Pod, error) {
	same := labels.Set{}
	for key, value := range own.Labels {
		if !slices.Contains(distinct, key) {
			same[key] = value
		}
	}
	selected := metav1.ListOptions{LabelSelector: same.String()}
	if len(same) == 0 {
		selected = metav1.ListOptions{FieldSelector: "metadata.name=" + own.Name}
	}
	list, err := client.CoreV1().Pods(own.Namespace).List(ctx, selected)
	if err != nil {
		return nil, fmt.Errorf("listing the controller's pods: %w", err)
	}
	return list.Items, nil
}

// ready reports whether a pod serves. As in ingress-nginx, a pod that is being deleted is ready
// until the kubelet reports otherwise.
func ready(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning &&
		slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
}
