package cluster

import (
	stderrors "errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/kinds/defaults"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// The default range of node ports in kube-apiserver (--service-node-port-range). Ports below firstGiven
// are assigned last, so that users can choose them.
const (
	firstNodePort, lastNodePort = 30000, 32767
	firstGiven                  = 30086
)

var (
	errNodePortTaken = stderrors.New("provided port is already allocated")
	errNodePortRange = fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", firstNodePort, lastNodePort)
	errNoNodePort    = stderrors.New("failed to allocate a nodePort: range is full")
	errNoHealthPort  = stderrors.New("failed to allocate a HealthCheck NodePort 0: range is full")
	wrongHealthPort  = "failed to allocate requested HealthCheck NodePort %d: %w"
	nodePortsPath    = field.NewPath("spec", "ports")
)

// newNodePorts returns claims of node ports.
func newNodePorts(services *store.Collection) claims[int32] {
	return claims[int32]{services: services, has: hasNodePort, value: func(n uint32) int32 { return int32(n) }, claims: map[int32]*claim{},
		bands: []band{{first: firstGiven, size: lastNodePort - firstGiven + 1}, {first: firstNodePort, size: firstGiven - firstNodePort}}}
}

func hasNodePort(service *store.Object, port int32) bool {
	obj, err := service.Decode()
	return err == nil && slices.Contains(nodePortsOf(obj.(*corev1.Service)), port)
}

// nodePortsOf returns the node ports that a Service has, with that for health checks.
func nodePortsOf(svc *corev1.Service) (ports []int32) {
	for _, port := range svc.Spec.Ports {
		if port.NodePort != 0 {
			ports = append(ports, port.NodePort)
		}
	}
	if svc.Spec.HealthCheckNodePort != 0 {
		ports = append(ports, svc.Spec.HealthCheckNodePort)
	}
	return ports
}

// reserveNodePorts refuses a Service whose node ports are outside of the range or belong to another
// Service, or which needs a node port when all are taken.
func (s *State) reserveNodePorts(op *Operation, svc, old *corev1.Service, key string) error {
	var had []int32
	if old != nil {
		had = nodePortsOf(old)
	}
	hold := func(port int32) error {
		switch {
		case slices.Contains(had, port):
			return nil
		case port < firstNodePort || port > lastNodePort:
			return errNodePortRange
		case !s.nodePorts.hold(op, port, key):
			return errNodePortTaken
		}
		return nil
	}
	for i, port := range svc.Spec.Ports {
		if port.NodePort == 0 {
			if defaults.NeedsNodePorts(&svc.Spec) {
				return errors.NewInternalError(errNoNodePort)
			}
			continue
		}
		if err := hold(port.NodePort); err != nil {
			return op.Resource.Invalid(svc.Name, field.ErrorList{field.Invalid(nodePortsPath.Index(i).Child("nodePort"), port.NodePort, err.Error())})
		}
	}
	switch port := svc.Spec.HealthCheckNodePort; {
	case !defaults.NeedsHealthCheck(&svc.Spec):
	case port == 0:
		return errors.NewInternalError(errNoHealthPort)
	default:
		if err := hold(port); err != nil {
			return errors.NewInternalError(fmt.Errorf(wrongHealthPort, port, err))
		}
	}
	return nil
}
