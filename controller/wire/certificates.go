package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"windtunnel.dev/controller/model"
)

// noCertificate tells Lua that a host has no certificate.
const noCertificate = "-1"

// Certificates is the data that Lua receives by POST /configuration/servers: the certificate of
// each host. A value never changes, so copies can share it. The zero Certificates means that
// nothing was sent yet.
type Certificates struct{ table *certificates }

// certificates is the body of POST /configuration/servers.
type certificates struct {
	Certificates map[string]string `json:"certificates"` // certificates with their keys as PEM, by UID
	Servers      map[string]string `json:"servers"`      // UIDs by host
}

// NewCertificates returns Certificates with pems, the certificates with their keys as PEM by UID,
// and hosts, the UID of each host. The caller must not modify the maps afterwards.
func NewCertificates(pems, hosts map[string]string) Certificates {
	return Certificates{&certificates{pems, hosts}}
}

// CertificatesOf returns the certificates of a model. An alias, or a host that only redirects, has
// the certificate of its host if that covers it. Hosts without a certificate are omitted, because
// Lua has no certificate for unknown hosts.
func CertificatesOf(m *model.Model) Certificates { return new(CertificatesMemo).Of(m) }

// CertificatesMemo returns the same value again if no certificate has changed.
type CertificatesMemo struct {
	hosts []certified
	last  Certificates // zero before the first call
}

// certified is a host with its certificate.
type certified struct{ host, uid, pem string }

// Of returns the same as CertificatesOf.
func (memo *CertificatesMemo) Of(m *model.Model) Certificates {
	hosts := certifiedHosts(m)
	if memo.last.IsSent() && slices.Equal(hosts, memo.hosts) {
		return memo.last
	}
	pems, uids := make(map[string]string), make(map[string]string)
	for _, each := range hosts {
		uids[each.host], pems[each.uid] = each.uid, each.pem
	}
	memo.hosts, memo.last = hosts, NewCertificates(pems, uids)
	return memo.last
}

// certifiedHosts returns the hosts that have a certificate.
func certifiedHosts(m *model.Model) []certified {
	var hosts []certified
	add := func(host string, certificate *model.SSLCert) {
		if certificate != nil {
			hosts = append(hosts, certified{host, certificate.UID, certificate.PemCertKey})
		}
	}
	for _, server := range m.Servers {
		add(server.Hostname, server.SSLCert)
		for _, alias := range server.Aliases {
			if server.SSLCert.Covers(alias) {
				add(alias, server.SSLCert)
			}
		}
	}
	for _, redirect := range m.RedirectServers {
		add(redirect.From, redirect.SSLCert)
	}
	return hosts
}

// IsSent reports whether the certificates are sent to Lua, even if there are none.
func (c Certificates) IsSent() bool { return c.table != nil }

// Hosts returns the UID of each host's certificate. The caller must not change the map.
func (c Certificates) Hosts() map[string]string {
	if c.table == nil {
		return nil
	}
	return c.table.Servers
}

// PEMs returns the certificates with their keys, by UID. The caller must not change the map.
func (c Certificates) PEMs() map[string]string {
	if c.table == nil {
		return nil
	}
	return c.table.Certificates
}

// Equal reports whether both are sent, with the same certificates, or neither is.
func (c Certificates) Equal(other Certificates) bool {
	return c.table == other.table ||
		c.IsSent() && other.IsSent() && maps.Equal(c.Hosts(), other.Hosts()) && maps.Equal(c.PEMs(), other.PEMs())
}

// Keeping returns the certificates, plus those of hosts that only running contains.
func (c Certificates) Keeping(running Certificates) Certificates {
	if !c.IsSent() || !running.IsSent() {
		return c
	}
	pems, hosts := maps.Clone(c.PEMs()), maps.Clone(c.Hosts())
	for host, uid := range running.Hosts() {
		if _, still := hosts[host]; still {
			continue
		}
		hosts[host] = uid
		if _, has := pems[uid]; !has {
			pems[uid] = running.PEMs()[uid]
		}
	}
	return NewCertificates(pems, hosts)
}

// Body returns the body of POST /configuration/servers that changes Lua's certificates from running
// to c: all certificates and hosts or, with onlyChanges, only the differences. Lua keeps entries
// that a body does not name, so a body sets noCertificate for hosts that no longer have one.
func (c Certificates) Body(running Certificates, onlyChanges bool) ([]byte, error) {
	var known Certificates
	if onlyChanges {
		known = running
	}
	body := certificates{without(c.PEMs(), known.PEMs()), without(c.Hosts(), known.Hosts())}
	for host := range running.Hosts() {
		if _, still := c.Hosts()[host]; !still {
			body.Servers[host] = noCertificate
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding certificates: %w", err)
	}
	return text, nil
}

// without returns the entries of all that known lacks or has with another value.
func without(all, known map[string]string) map[string]string {
	rest := make(map[string]string)
	for key, value := range all {
		if before, has := known[key]; !has || before != value {
			rest[key] = value
		}
	}
	return rest
}
