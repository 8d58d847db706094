package kind

import (
	"context"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/driver/incluster"
)

// The ports of the node that nginx listens on.
const (
	httpPort   = 10080
	httpsPort  = 10443
	healthPort = 10254
	statusPort = 10246
)

// install writes the objects of the controller.
func (i *instance) install(ctx context.Context) error {
	client, err := cluster.New(i.api)
	if err != nil {
		return err
	}
	objects, err := i.objects()
	if err != nil {
		return err
	}
	for _, typed := range objects {
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

// objects returns the objects of the controller.
func (i *instance) objects() ([]runtime.Object, error) {
	c := i.controller()
	objects, err := c.Objects()
	for _, object := range objects {
		if deployment, ok := object.(*appsv1.Deployment); ok && !c.Bundled {
			asInAnEngine(&deployment.Spec.Template.Spec)
		}
		onTheNode(object)
	}
	return objects, err
}

// controller describes the subject's controller.
func (i *instance) controller() incluster.Controller {
	flags := map[string]string{
		"http-port":                  strconv.Itoa(httpPort),
		"https-port":                 strconv.Itoa(httpsPort),
		"healthz-port":               strconv.Itoa(healthPort),
		"status-port":                strconv.Itoa(statusPort),
		"profiling":                  "false",
		"shutdown-grace-period":      "0",
		"post-shutdown-grace-period": "0",
	}
	return incluster.Controller{
		Namespace: incluster.Namespace, Image: i.image.Name, Bundled: i.image.Labels[engine.Bundled] != "", Pull: corev1.PullNever, Cmd: i.image.Cmd,
		Flags: flags, Scenario: i.subject.Flags, Config: i.subject.Config, Resources: i.subject.Resources, Streams: i.options.Streams,
	}
}

// onTheNode makes the controller run in the network of its node, where nothing rewrites the source
// address of connections.
func onTheNode(object runtime.Object) {
	switch o := object.(type) {
	case *corev1.Namespace:
		o.Labels["pod-security.kubernetes.io/enforce"] = "privileged" // the host network needs it
	case *appsv1.Deployment:
		pod := &o.Spec.Template.Spec
		pod.HostNetwork = true
		pod.DNSPolicy = corev1.DNSClusterFirstWithHostNet
		pod.SecurityContext.Sysctls = nil // with the host network, these are sysctls of the node
		for n, port := range pod.Containers[0].Ports {
			switch port.Name {
			case "http":
				pod.Containers[0].Ports[n].ContainerPort = httpPort
			case "https":
				pod.Containers[0].Ports[n].ContainerPort = httpsPort
			}
		}
	}
}

// asInAnEngine makes a pod run as the user of its image, with the privileges that an engine gives to a
// container. The manifest has those of the bundled controller.
func asInAnEngine(pod *corev1.PodSpec) {
	pod.SecurityContext = &corev1.PodSecurityContext{}
	pod.Containers[0].SecurityContext = nil
}
