package observe

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/model"
)

// WillServe prepares the metrics for a model that nginx is about to receive.
func (o *Observer) WillServe(next *model.Model) {
	if !o.ServedMetrics || next.SameButEndpoints(o.served) {
		return
	}
	o.served = nil
	o.Metrics.WillServe(servedBy(next))
}

// Serves updates the metrics for the model that nginx serves now: its hosts, certificates, and
// ingresses without a service or endpoint.
func (o *Observer) Serves(now *model.Model) {
	if !o.ServedMetrics {
		return
	}
	if now.SameServing(o.served) {
		return
	}
	if !now.SameButEndpoints(o.served) {
		o.Metrics.Serves(servedBy(now))
		o.Metrics.Certificates(certificates(now))
	}
	o.Metrics.Orphans(orphans(now))
	o.served = now
}

// servedBy returns the hosts and ingresses of a model, for the metrics of requests.
func servedBy(m *model.Model) metrics.Served {
	s := metrics.Served{Hosts: map[string]bool{}, Ingresses: map[types.NamespacedName]bool{}}
	for _, server := range m.Servers {
		s.Hosts[server.Hostname] = true
		for _, alias := range server.Aliases {
			s.Hosts[alias] = true
		}
		for _, location := range server.Locations {
			if ingress := location.Ingress; ingress != nil {
				s.Ingresses[types.NamespacedName{Namespace: ingress.Namespace, Name: ingress.Name}] = true
			}
		}
	}
	return s
}

// orphans returns the ingresses with a location whose service is missing or has no endpoint.
func orphans(m *model.Model) []metrics.Orphan {
	var found []metrics.Orphan
	for _, server := range m.Servers {
		for _, location := range server.Locations {
			if location.Ingress == nil || location.IsDefBackend || isClosed(location) {
				continue
			}
			orphan := metrics.Orphan{Namespace: location.Ingress.Namespace, Ingress: location.Ingress.Name}
			switch backend := m.Backends.Find(location.Backend); {
			case backend == nil || backend.Service == nil:
				orphan.Type = metrics.NoService
			case len(backend.Endpoints) == 0:
				orphan.Type = metrics.NoEndpoint
			default:
				continue
			}
			found = append(found, orphan)
		}
	}
	return found
}

// isClosed reports whether a location answers 503 regardless of its service, because its ingress
// was rejected.
func isClosed(location *model.Location) bool {
	return location.Denied != nil && location.Backend == model.DefaultBackendName
}

// certificates returns the certificates of the hosts that have one of their own.
func certificates(m *model.Model) []metrics.Certificate {
	var found []metrics.Certificate
	for _, server := range m.Servers {
		cert := server.SSLCert
		if cert == nil || cert.Certificate == nil {
			continue
		}
		issuer, serial := cert.Certificate.Issuer, cert.Certificate.SerialNumber.String()
		found = append(found, metrics.Certificate{
			Host:       server.Hostname,
			Namespace:  cert.Namespace,
			Secret:     cert.Name,
			Identifier: serial,
			Expires:    cert.ExpireTime,

			IssuerOrganization: strings.Join(issuer.Organization, ","),
			IssuerCommonName:   issuer.CommonName,
			SerialNumber:       serial,
			PublicKeyAlgorithm: cert.Certificate.PublicKeyAlgorithm.String(),
		})
	}
	return found
}
