package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Certificate is the certificate of a host.
type Certificate struct {
	Host       string
	Namespace  string // of its Secret
	Secret     string
	Identifier string
	Expires    time.Time

	IssuerOrganization string
	IssuerCommonName   string
	SerialNumber       string
	PublicKeyAlgorithm string
}

// certificates are the metrics of the hosts' certificates. Unlike all other metrics, they have a
// label for the class and none for the pod, because only the leader reports expiry.
type certificates struct {
	class   string
	expires *refilled
	info    *refilled

	mu     *sync.Mutex
	served []Certificate
	leads  bool
}

var certificateLabels = []string{"namespace", "class", "host", "secret_name", "identifier"}

func newCertificates(id Identity) certificates {
	vec := func(name, help string, labels ...string) *refilled {
		return newRefilled(func() *prometheus.GaugeVec {
			return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, slices.Concat(certificateLabels, labels))
		})
	}
	return certificates{
		class:   id.Class,
		expires: vec("ssl_expire_time_seconds", "When a host's certificate expires, in seconds since 1970. Only the leader reports it."),
		info: vec("ssl_certificate_info", "Always 1; the labels describe a host's certificate.",
			"issuer_organization", "issuer_common_name", "serial_number", "public_key_algorithm"),
		mu: new(sync.Mutex),
	}
}

func (c *certificates) all() []prometheus.Collector {
	return []prometheus.Collector{c.expires, c.info}
}

// Certificates sets the certificates of all hosts. It replaces those of the previous call.
func (c *certificates) Certificates(served []Certificate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Equal(c.served, served) {
		return
	}
	c.served = served
	c.info.refill(func(next *prometheus.GaugeVec) {
		for _, cert := range served {
			next.WithLabelValues(append(c.labels(cert), cert.IssuerOrganization, cert.IssuerCommonName, cert.SerialNumber, cert.PublicKeyAlgorithm)...).Set(1)
		}
	})
	c.updateExpiry()
}

func (c *certificates) lead(is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leads = is
	c.updateExpiry()
}

// updateExpiry sets the metric of expiry. The caller holds the lock.
func (c *certificates) updateExpiry() {
	c.expires.refill(func(next *prometheus.GaugeVec) {
		if !c.leads {
			return
		}
		for _, cert := range c.served {
			next.WithLabelValues(c.labels(cert)...).Set(float64(cert.Expires.Unix()))
		}
	})
}

func (c *certificates) labels(cert Certificate) []string {
	return []string{cert.Namespace, c.class, cert.Host, cert.Secret, cert.Identifier}
}
