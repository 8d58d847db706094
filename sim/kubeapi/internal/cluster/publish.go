package cluster

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
)

// ServerIP is the cluster IP of the Service kubernetes: the first address of the service network.
const ServerIP = "10.96.0.1"

const serverName, serverPort = "kubernetes", "https"

// Publish creates the Service kubernetes with the server's address as its endpoint, as
// kube-apiserver does when it starts. The address may be one of loopback.
func (s *State) Publish(server netip.AddrPort) error {
	ip, port, tcp := server.Addr().String(), int32(server.Port()), corev1.ProtocolTCP
	meta := func(labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: serverName, Namespace: metav1.NamespaceDefault, Labels: labels}
	}
	addressType := discoveryv1.AddressTypeIPv4
	if server.Addr().Is6() {
		addressType = discoveryv1.AddressTypeIPv6
	}
	service := &corev1.Service{ObjectMeta: meta(map[string]string{"component": "apiserver", "provider": "kubernetes"}),
		Spec: corev1.ServiceSpec{ClusterIP: ServerIP, Ports: []corev1.ServicePort{{Name: serverPort, Port: 443, TargetPort: intstr.FromInt32(port)}}}}
	endpoints := &corev1.Endpoints{ObjectMeta: meta(map[string]string{discoveryv1.LabelSkipMirror: "true"}), //nolint:staticcheck // kube-apiserver still writes it
		Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: ip}}, Ports: []corev1.EndpointPort{{Name: serverPort, Port: port}}}}}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: meta(map[string]string{discoveryv1.LabelServiceName: serverName}), AddressType: addressType,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{ip}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}},
		Ports:     []discoveryv1.EndpointPort{{Name: new(serverPort), Port: &port, Protocol: &tcp}}}
	for _, obj := range []runtime.Object{service, endpoints, slice} {
		op, err := s.Writer().operation(obj)
		if err != nil {
			return err
		}
		s.prepareNew(op.Resource, obj)
		s.assign(op, obj, nil)
		if err = s.reserve(op, obj, nil); err == nil {
			_, err = op.Objects.Write(watch.Added, nil, obj)
		}
		op.release()
		if err != nil {
			return fmt.Errorf("publishing the server as Service %s: %w", serverName, err)
		}
	}
	return nil
}
