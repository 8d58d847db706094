package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// PassthroughBackend is a host whose TLS connections are forwarded to a service without decryption.
type PassthroughBackend struct {
	Backend  string
	Hostname string
	Service  *corev1.Service
	Port     intstr.IntOrString
	Address  string // "host:port" of the service
}

// addPassthrough configures TLS passthrough for the hosts of ingresses that request it. The path of
// an encrypted request is unknown, so only "/" counts.
func (b *builder) addPassthrough() {
	for _, ingress := range b.Ingresses {
		if !b.annotations(ingress).Backend.SSLPassthrough || b.isCanary(ingress) {
			continue
		}
		if !b.options.EnableSSLPassthrough {
			b.find(ingress, b.annotationKey("ssl-passthrough"), "the controller runs without --enable-ssl-passthrough; nginx terminates TLS")
		}
		for _, host := range hosts(ingress) {
			if server := b.servers[host]; server != nil && host != DefaultServerName {
				server.SSLPassthrough = true
			}
		}
		for path := range paths(ingress) {
			if path.Path != "/" && path.host != DefaultServerName {
				b.find(ingress, path.key, "ssl-passthrough applies only to /; %s is only served over HTTP", shown(path.Path))
			}
		}
	}
	for _, host := range slices.Sorted(maps.Keys(b.servers)) {
		if b.servers[host].SSLPassthrough {
			b.passHost(b.servers[host])
		}
	}
}

func (b *builder) passHost(server *Server) {
	i := slices.IndexFunc(server.Locations, func(l *Location) bool { return l.Path == "/" })
	if i < 0 {
		return
	}
	location := server.Locations[i]
	if location.Service == nil || location.Backend == DefaultBackendName || server.closed != nil {
		return
	}
	b.backends[location.Backend].SSLPassthrough = true // pods expect TLS from nginx, too
	address, reason := clusterAddress(location.Service, location.Port)
	if strings.HasPrefix(server.Hostname, "*.") {
		reason = "ssl-passthrough does not support wildcards"
	}
	if reason != "" {
		b.findService(types.NamespacedName{Namespace: location.Service.Namespace, Name: location.Service.Name}, fmt.Sprintf("%s; nginx terminates the TLS connections of %s", reason, server.Hostname))
		return
	}
	b.passthrough = append(b.passthrough, PassthroughBackend{
		Backend:  location.Backend,
		Hostname: server.Hostname,
		Service:  location.Service,
		Port:     location.Port,
		Address:  address,
	})
}

// clusterAddress returns the cluster IP and port of a service; kube-proxy then chooses the pod. If
// there are none, it returns the reason.
func clusterAddress(service *corev1.Service, wanted intstr.IntOrString) (address, reason string) {
	ip := service.Spec.ClusterIP
	if ip == "" || ip == corev1.ClusterIPNone {
		return "", "ssl-passthrough requires a service with a cluster IP"
	}
	port, ok := findPort(service, wanted)
	if !ok {
		return "", fmt.Sprintf("it has no TCP port %s", wanted.String())
	}
	return Endpoint{Address: ip, Port: fmt.Sprint(port.Port)}.HostPort(), ""
}
