package kind

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/deploy"
	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/subject"
)

// The names in the manifests of deploy.
const (
	namespace = "ingress-nginx"
	name      = "ingress-nginx-controller"
	selector  = "app.kubernetes.io/name=ingress-nginx"
	tcpPorts  = "tcp-services"
	udpPorts  = "udp-services"
)

// The ports of the node that nginx listens on.
const (
	httpPort   = 10080
	httpsPort  = 10443
	healthPort = 10254
	statusPort = 10246
	streamBase = 11000 // the first port of the TCP and UDP services
)

// install writes the objects that `kubectl apply -k deploy/` would write, adapted to a run.
func (i *instance) install(ctx context.Context) error {
	client, err := cluster.New(i.api)
	if err != nil {
		return err
	}
	objects, err := deploy.Build("controller", nil)
	if err != nil {
		return err
	}
	if len(i.options.Streams) > 0 {
		for _, name := range []string{tcpPorts, udpPorts} {
			objects = append(objects, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: i.streamPorts()})
		}
	}
	for _, typed := range objects {
		if !i.adapt(typed) {
			continue
		}
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		if _, err := client.Put(ctx, object); err != nil {
			return fmt.Errorf("install the controller of subject %s: %w", i.subject.Name, err)
		}
	}
	return nil
}

// adapt changes an object for the subject. It returns false if a run does not need the object.
func (i *instance) adapt(object runtime.Object) bool {
	switch o := object.(type) {
	case *corev1.Namespace:
		o.Labels["pod-security.kubernetes.io/enforce"] = "privileged" // the host network needs it
	case *corev1.ConfigMap:
		if o.Name == name {
			o.Data = i.subject.Config
		}
	case *appsv1.Deployment:
		i.adaptDeployment(&o.Spec)
	case *policyv1.PodDisruptionBudget:
		return false // with a single controller it would prevent all evictions
	}
	return true
}

// adaptDeployment sets one controller, which runs in the network of its node, where nothing
// rewrites the source address of connections.
func (i *instance) adaptDeployment(spec *appsv1.DeploymentSpec) {
	spec.Replicas = new(int32(1))
	spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	pod := &spec.Template.Spec
	pod.HostNetwork = true
	pod.DNSPolicy = corev1.DNSClusterFirstWithHostNet
	pod.SecurityContext.Sysctls = nil // with the host network, these are sysctls of the node
	container := &pod.Containers[0]
	container.Image = i.image.Name
	container.ImagePullPolicy = corev1.PullNever
	container.Args = slices.Concat(i.image.Cmd, container.Args, i.args())
	setLimit(&container.Resources, corev1.ResourceCPU, i.subject.Resources.CPU.Quantity)
	setLimit(&container.Resources, corev1.ResourceMemory, i.subject.Resources.Memory.Quantity)
	for n, port := range container.Ports {
		switch port.Name {
		case "http":
			container.Ports[n].ContainerPort = httpPort
		case "https":
			container.Ports[n].ContainerPort = httpsPort
		}
	}
}

// setLimit sets the limit of a resource and lowers the request to it. Zero means no limit.
func setLimit(of *corev1.ResourceRequirements, what corev1.ResourceName, to resource.Quantity) {
	if to.IsZero() {
		return
	}
	if of.Limits == nil {
		of.Limits = corev1.ResourceList{}
	}
	of.Limits[what] = to
	if request := of.Requests[what]; request.Cmp(to) > 0 {
		of.Requests[what] = to
	}
}

// args returns the arguments after the manifest's, which they override. The scenario's flags
// override the driver's.
func (i *instance) args() []string {
	flags := map[string]string{
		"http-port":                  strconv.Itoa(httpPort),
		"https-port":                 strconv.Itoa(httpsPort),
		"healthz-port":               strconv.Itoa(healthPort),
		"status-port":                strconv.Itoa(statusPort),
		"profiling":                  "false",
		"shutdown-grace-period":      "0",
		"post-shutdown-grace-period": "0",
	}
	if i.image.Labels[engine.Bundled] != "" {
		flags["log-format"] = "json"
	}
	if len(i.options.Streams) > 0 {
		flags["tcp-services-configmap"] = namespace + "/" + tcpPorts
		flags["udp-services-configmap"] = namespace + "/" + udpPorts
	}
	maps.Copy(flags, i.subject.Flags)
	return subject.Args(flags)
}

// streamPorts returns the data of the TCP and UDP ConfigMaps: the services of Options.Streams by
// port.
func (i *instance) streamPorts() map[string]string {
	data := map[string]string{}
	for n, service := range i.options.Streams {
		data[strconv.Itoa(streamBase+n)] = service
	}
	return data
}
