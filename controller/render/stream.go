package render

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/model"
)

// streamed is the dot of the template for a TCP or UDP port.
type streamed struct {
	All     *root
	Service model.L4Service
}

// streamUpstreams returns the services of both lists, one per name: two ports can share a service.
func streamUpstreams(tcp, udp []model.L4Service) []model.L4Service {
	var all []model.L4Service
	for _, service := range slices.Concat(tcp, udp) {
		if !slices.ContainsFunc(all, func(other model.L4Service) bool { return other.Name() == service.Name() }) {
			all = append(all, service)
		}
	}
	return all
}

// buildStreamListener returns the listen directives of a TCP or UDP port.
func buildStreamListener(r *root, service model.L4Service) string {
	options := fmt.Sprintf(" backlog=%d", r.BacklogSize)
	switch {
	case service.Backend.Protocol == corev1.ProtocolUDP && r.Cfg.ReusePort:
		options = " udp reuseport" // all datagrams of a client reach the same worker
	case service.Backend.Protocol == corev1.ProtocolUDP:
		options = " udp"
	case service.Backend.ProxyProtocol.Decode:
		options += " proxy_protocol"
	}
	var lines []string
	for _, address := range listenAddresses(r) {
		lines = append(lines, fmt.Sprintf("listen %s%d%s;", address, service.Port, options))
	}
	return strings.Join(lines, "\n")
}
