package controller

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/model"
)

// willServe says what nginx will serve if it takes a model.
func (c *controller) willServe(next *model.Model) {
	if !c.Options.EnableMetrics || next.SameButEndpoints(c.observed) {
		return
	}
	c.observed = nil
	c.Metrics.WillServe(serving(next))
}

// serves says what nginx serves, with which certificates, and which of that
// leads nowhere.
func (c *controller) serves(now *model.Model) {
	if !c.Options.EnableMetrics {
		return
	}
	if !now.SameButEndpoints(c.observed) {
		c.Metrics.Serves(serving(now))
		c.Metrics.Certificates(certificates(now))
		c.observed = now
	}
	c.Metrics.Orphans(orphans(now))
}

func (c *controller) tellPhases(p apply.Phases) {
	c.Metrics.Phase(metrics.Render, p.Render)
	c.Metrics.Phase(metrics.Test, p.Test)
	c.Metrics.Phase(metrics.Signal, p.Signal)
	c.Metrics.Phase(metrics.FirstWorker, p.FirstWorker)
}

// serving is what nginx serves by a model, for the metrics of requests.
func serving(m *model.Model) metrics.Serving {
	s := metrics.Serving{Hosts: map[string]bool{}, Ingresses: map[types.NamespacedName]bool{}}
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

// orphans are the ingresses with a location that leads nowhere.
func orphans(m *model.Model) []metrics.Orphan {
	var found []metrics.Orphan
	for _, server := range m.Servers {
		for _, location := range server.Locations {
			if location.Ingress == nil || location.IsDefBackend {
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

// certificates are those of hosts that have one of their own.
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
