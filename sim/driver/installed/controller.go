package installed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/internal/plural"
)

// ofController selects the objects of a controller, by the labels of ingress-nginx's Helm chart and
// manifests.
const ofController = "app.kubernetes.io/name=ingress-nginx,app.kubernetes.io/component=controller"

// assumedReplicas is the number of controllers if it is not known.
const assumedReplicas = 4

// controller describes the controller, as far as the cluster shows it. The zero value means that nothing
// is known.
type controller struct {
	kind, name string // Deployment or DaemonSet, and namespace/name
	image      string
	replicas   int
}

// describe returns ", image IMAGE, N replicas", or "" if nothing is known.
func (c controller) describe() string {
	if c.name == "" {
		return ""
	}
	return fmt.Sprintf(", image %s, %s", c.image, plural.Of(c.replicas, "replica"))
}

// findClasses checks that the IngressClass exists, and finds all classes of its controller.
func (d *Driver) findClasses(ctx context.Context) error {
	list, err := d.client.NetworkingV1().IngressClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the IngressClasses: %w", err)
	}
	byName := map[string]string{}
	for _, class := range list.Items {
		byName[class.Name] = class.Spec.Controller
	}
	controller, found := byName[d.Class]
	if !found {
		return fmt.Errorf("there is no IngressClass %s in the cluster; name that of the controller with --ingress-class", d.Class)
	}
	for name, other := range byName {
		if other == controller {
			d.classes = append(d.classes, name)
		}
	}
	slices.Sort(d.classes)
	return nil
}

// findReplicas finds out how many controllers there are, unless the user says it.
func (d *Driver) findReplicas(ctx context.Context) error {
	found, err := d.findControllers(ctx)
	if err != nil {
		return err
	}
	if len(found) == 1 {
		d.controller = found[0]
	}
	switch {
	case d.Replicas > 0:
		d.controller.replicas = d.Replicas
	case d.controller.name != "":
		d.Replicas = max(d.controller.replicas, 1)
		d.Tell(fmt.Sprintf("%s, as %s %s has", plural.Of(d.Replicas, "replica"), d.controller.kind, d.controller.name))
	default:
		d.Replicas = assumedReplicas
		d.Tell(fmt.Sprintf("the number of replicas is not known: assuming %d; set it with --replicas", d.Replicas))
	}
	return nil
}

// findControllers returns the Deployments and DaemonSets of controllers; none if the user may not
// list them.
func (d *Driver) findControllers(ctx context.Context) ([]controller, error) {
	var all []controller
	selected := metav1.ListOptions{LabelSelector: ofController}
	deployments, err := d.client.AppsV1().Deployments("").List(ctx, selected)
	if err != nil {
		return nil, ignoreForbidden(err)
	}
	for _, one := range deployments.Items {
		all = append(all, controller{"Deployment", one.Namespace + "/" + one.Name, imageOf(one.Spec.Template.Spec), replicasOf(one)})
	}
	sets, err := d.client.AppsV1().DaemonSets("").List(ctx, selected)
	if err != nil {
		return nil, ignoreForbidden(err)
	}
	for _, one := range sets.Items {
		all = append(all, controller{"DaemonSet", one.Namespace + "/" + one.Name, imageOf(one.Spec.Template.Spec), int(one.Status.DesiredNumberScheduled)})
	}
	return all, nil
}

// replicasOf returns the number of replicas that a Deployment wants or has, whichever is larger.
func replicasOf(d appsv1.Deployment) int {
	wanted := int32(1)
	if d.Spec.Replicas != nil {
		wanted = *d.Spec.Replicas
	}
	return int(max(wanted, d.Status.Replicas))
}

func imageOf(pod corev1.PodSpec) string {
	if len(pod.Containers) == 0 {
		return "unknown"
	}
	return pod.Containers[0].Image
}

func ignoreForbidden(err error) error {
	if apierrors.IsForbidden(err) {
		return nil
	}
	return err
}

// suggestURLs returns an error that names the addresses of the controller's Service. They are only
// suggested, because another Service may be meant, and this machine may not reach them.
func (d *Driver) suggestURLs(ctx context.Context) error {
	services, err := d.client.CoreV1().Services("").List(ctx, metav1.ListOptions{LabelSelector: ofController})
	if err := ignoreForbidden(err); err != nil {
		return fmt.Errorf("look for the Service of the controller: %w", err)
	}
	var suggestions []string
	for _, service := range services.Items {
		if urls := urlsOf(service); len(urls) > 0 {
			suggestions = append(suggestions, fmt.Sprintf("Service %s/%s has --url %s", service.Namespace, service.Name, strings.Join(urls, " --url ")))
		}
	}
	if len(suggestions) == 0 {
		return errors.New("the address of the controller is missing: name it with --url http://HOST and --url https://HOST")
	}
	return fmt.Errorf("the address of the controller is missing: name it with --url; %s", strings.Join(suggestions, "; "))
}

// urlsOf returns the URLs at which a Service may be reached, if it serves HTTP.
func urlsOf(service corev1.Service) []string {
	schemes := map[int32]string{80: "http", 443: "https"}
	var addresses []string
	for _, balancer := range service.Status.LoadBalancer.Ingress {
		addresses = append(addresses, cmp.Or(balancer.IP, balancer.Hostname))
	}
	addresses = slices.Concat(addresses, service.Spec.ExternalIPs, []string{service.Spec.ClusterIP})
	address := addresses[0]
	if address == "" || address == corev1.ClusterIPNone || !slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Port == 80 }) {
		return nil
	}
	var urls []string
	for _, port := range service.Spec.Ports {
		if scheme := schemes[port.Port]; scheme != "" && port.Protocol != corev1.ProtocolUDP {
			urls = append(urls, scheme+"://"+strings.TrimSuffix(net.JoinHostPort(address, ""), ":"))
		}
	}
	return urls
}
