package cluster

import (
	stderrors "errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/kinds/defaults"
	"windtunnel.dev/sim/kubeapi/internal/object"
)

// The default range of node ports in kube-apiserver (--service-node-port-range). Ports below firstGiven
// are assigned last, so that users can choose them.
const (
	firstNodePort, lastNodePort = 30000, 32767
	firstGiven                  = 30086
)

var (
	errNodePortTaken   = stderrors.New("provided port is already allocated")
	errNodePortRange   = fmt.Errorf("provided port is not in the valid range. The range of valid ports is %d-%d", firstNodePort, lastNodePort)
	errNoNodePort      = stderrors.New("failed to allocate a nodePort: range is full")
	errNoHealthPort    = stderrors.New("failed to allocate a HealthCheck NodePort 0: range is full")
	wrongHealthPort    = "failed to allocate requested HealthCheck NodePort %d: %w"
	nodePortsPath      = field.NewPath("spec", "ports")
	numberOfNodePorts  = uint32(lastNodePort - firstNodePort + 1)
	offsetOfFirstGiven = uint32(firstGiven - firstNodePort)
)

// NewNodePort claims the next free node port for a Service. It returns 0 if all are taken.
func (s *State) NewNodePort(namespace, name string) int32 {
	port, ok := s.nodePorts.next(object.Key(namespace, name), numberOfNodePorts, func(n uint32) int32 {
		return int32(firstNodePort + (n+offsetOfFirstGiven)%numberOfNodePorts)
	})
	if !ok {
		return 0
	}
	return port
}

func (s *State) holdsNodePort(key string, port int32) bool {
	o := s.services.Get(key)
	if o == nil {
		return false
	}
	obj, err := o.Decode()
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
func (s *State) reserveNodePorts(op *Operation, svc, old *corev1.Service, key string) (held []func(), err error) {
	var had []int32
	if old != nil {
		had = nodePortsOf(old)
	}
	hold := func(port int32) error {
		if slices.Contains(had, port) {
			return nil
		}
		if port < firstNodePort || port > lastNodePort {
			return errNodePortRange
		}
		release, ok := s.nodePorts.hold(port, key)
		if !ok {
			return errNodePortTaken
		}
		held = append(held, release)
		return nil
	}
	for i, port := range svc.Spec.Ports {
		if port.NodePort == 0 {
			if defaults.NeedsNodePorts(&svc.Spec) {
				return held, errors.NewInternalError(errNoNodePort)
			}
			continue
		}
		if err := hold(port.NodePort); err != nil {
			return held, op.Resource.Invalid(svc.Name, field.ErrorList{field.Invalid(nodePortsPath.Index(i).Child("nodePort"), port.NodePort, err.Error())})
		}
	}
	switch port := svc.Spec.HealthCheckNodePort; {
	case !defaults.NeedsHealthCheck(&svc.Spec):
	case port == 0:
		return held, errors.NewInternalError(errNoHealthPort)
	default:
		if err := hold(port); err != nil {
			return held, errors.NewInternalError(fmt.Errorf(wrongHealthPort, port, err))
		}
	}
	return held, nil
}
