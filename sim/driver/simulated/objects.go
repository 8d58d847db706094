package simulated

import (
	"context"
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// The names of the controller's objects in its cluster. They follow ingress-nginx's manifests.
const (
	namespace = "ingress-nginx"
	podName   = "ingress-nginx-controller-0"
	nodeName  = "windtunnel"
	zone      = "here" // of the node
	configMap = "ingress-nginx-controller"
	tcpPorts  = "tcp-services"
	udpPorts  = "udp-services"
)

// ConfigMap is the name of the ConfigMap of a subject's controller: namespace/name.
const ConfigMap = namespace + "/" + configMap

// describeController creates the objects that ingress-nginx needs at its start: its own pod, the
// pod's node, and its ConfigMap.
func (i *Instance) describeController(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(i.API())
	if err != nil {
		return err
	}
	config := maps.Clone(i.Subject.Config)
	if config == nil {
		config = map[string]string{}
	}
	// Only this machine may connect to nginx.
	config["bind-address"] = "127.0.0.1"
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: namespace} }

	core := client.CoreV1()
	steps := []func() error{
		func() error {
			_, err := core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
			return err
		},
		func() error {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{corev1.LabelTopologyZone: zone}}}
			_, err := core.Nodes().Create(ctx, node, metav1.CreateOptions{})
			return err
		},
		func() error {
			pod := &corev1.Pod{ObjectMeta: meta(podName), Spec: corev1.PodSpec{
				NodeName:   nodeName,
				Containers: []corev1.Container{{Name: "controller", Image: "controller"}},
			}}
			pod.Labels = map[string]string{"app.kubernetes.io/name": "ingress-nginx"}
			_, err := core.Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
			return err
		},
		func() error {
			_, err := core.ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta(configMap), Data: config}, metav1.CreateOptions{})
			return err
		},
	}
	if len(i.Options.Streams) > 0 {
		for _, name := range []string{tcpPorts, udpPorts} {
			steps = append(steps, func() error {
				_, err := core.ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta(name), Data: i.streamPorts()}, metav1.CreateOptions{})
				return err
			})
		}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("create the objects of the controller of subject %s: %w", i.Subject.Name, err)
		}
	}
	return nil
}

// streamPorts returns the data of the TCP and UDP ConfigMaps: the services of Options.Streams by
// port.
func (i *Instance) streamPorts() map[string]string {
	data := map[string]string{}
	for n, at := range i.Streams() {
		data[strconv.Itoa(int(at.Port()))] = i.Options.Streams[n]
	}
	return data
}

// Flags returns the flags that every driver passes to the controller. The runtime adds kubeconfig,
// whose path depends on the runtime.
func (i *Instance) Flags() map[string]string {
	flags := map[string]string{
		"configmap":                  namespace + "/" + configMap,
		"healthz-host":               "127.0.0.1",
		"profiling":                  "false",
		"publish-status-address":     "127.0.0.1",
		"post-shutdown-grace-period": "0",
	}
	maps.Copy(flags, i.ports)
	if len(i.Options.Streams) > 0 {
		flags["tcp-services-configmap"] = namespace + "/" + tcpPorts
		flags["udp-services-configmap"] = namespace + "/" + udpPorts
	}
	return flags
}

// Environment returns the variables from which ingress-nginx learns its own pod.
func Environment() map[string]string {
	return map[string]string{"POD_NAME": podName, "POD_NAMESPACE": namespace}
}
