package main

import (
	"context"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/controller/annotations"
)

// modelFlags configure how annotations and services are interpreted.
type modelFlags struct {
	prefix               string
	validate             bool
	disableExternalNames bool
	topologyAware        bool
}

func (f *flags) addModel() {
	s, m := f.set, &f.model
	s.StringVar(&m.prefix, "annotations-prefix", annotations.DefaultPrefix, "prefix of the annotations to read")
	s.BoolVar(&m.validate, "enable-annotation-validation", true, "validate the values of annotations")
	s.BoolVar(&m.disableExternalNames, "disable-svc-external-name", false, "ignore the endpoints of services of type ExternalName")
	s.BoolVar(&m.topologyAware, "enable-topology-aware-routing", false, "prefer endpoints for the zone of the controller's node, if the service requests it")
}

// zone returns the zone of the pod's node with --enable-topology-aware-routing, else "". If the
// node has no zone or cannot be read, it logs a warning and returns "".
func (m modelFlags) zone(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, log *slog.Logger) string {
	if !m.topologyAware {
		return ""
	}
	node, err := client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		log.Warn("--enable-topology-aware-routing has no effect: the controller's node cannot be read", "node", pod.Spec.NodeName, "error", err.Error())
		return ""
	}
	zone := node.Labels[corev1.LabelTopologyZone]
	if zone == "" {
		log.Warn("--enable-topology-aware-routing has no effect: the controller's node has no label "+corev1.LabelTopologyZone, "node", node.Name)
	}
	return zone
}
