package wire

import (
	"encoding/json"
	"fmt"
	"slices"

	"windtunnel.dev/controller/model"
)

// noCertificate tells Lua that a host has no certificate.
const noCertificate = "-1"

// certificates is the body of POST /configuration/servers: certificates with keys by UID, and UIDs
// by host.
type certificates struct {
	Certificates map[string]string `json:"certificates"`
	Servers      map[string]string `json:"servers"`
}

// Servers returns the certificates with their keys, and the certificate of each host. An alias, and
// a host that only redirects, have the certificate of their host if it covers them. Hosts without a
// certificate are omitted, because Lua has no certificate for unknown hosts.
func Servers(m *model.Model) ([]byte, error) { return new(ServersMemo).Servers(m) }

// ServersMemo encodes certificates again only if one has changed: those of a large cluster are megabytes.
type ServersMemo struct {
	hosts []certified
	text  []byte // nil before the first call
}

// certified is a host with its certificate.
type certified struct{ host, uid, pem string }

// Servers returns the same as the function of that name.
func (memo *ServersMemo) Servers(m *model.Model) ([]byte, error) {
	hosts := certifiedHosts(m)
	if memo.text != nil && slices.Equal(hosts, memo.hosts) {
		return memo.text, nil
	}
	all := certificates{Certificates: make(map[string]string), Servers: make(map[string]string)}
	for _, each := range hosts {
		all.Servers[each.host] = each.uid
		all.Certificates[each.uid] = each.pem
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encoding certificates: %w", err)
	}
	memo.hosts, memo.text = hosts, text
	return text, nil
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

// ServersKeeping returns the certificates of next, plus those of hosts that only running has.
func ServersKeeping(running, next []byte) ([]byte, error) {
	if len(running) == 0 || len(next) == 0 {
		return next, nil
	}
	var before, after certificates
	if err := json.Unmarshal(running, &before); err != nil {
		return nil, fmt.Errorf("decoding the current certificates: %w", err)
	}
	if err := json.Unmarshal(next, &after); err != nil {
		return nil, fmt.Errorf("decoding the next certificates: %w", err)
	}
	for host, uid := range before.Servers {
		if _, still := after.Servers[host]; still {
			continue
		}
		after.Servers[host] = uid
		if _, has := after.Certificates[uid]; !has {
			after.Certificates[uid] = before.Certificates[uid]
		}
	}
	return json.Marshal(after)
}

// ServersAfter returns the body of POST /configuration/servers that changes Lua's certificates from
// running to next. Lua keeps a host until it is told otherwise, so the body has noCertificate for
// hosts that no longer have one.
func ServersAfter(running, next []byte) ([]byte, error) {
	if len(running) == 0 {
		return next, nil
	}
	var before, after certificates
	if err := json.Unmarshal(running, &before); err != nil {
		return nil, fmt.Errorf("decoding the current certificates: %w", err)
	}
	if err := json.Unmarshal(next, &after); err != nil {
		return nil, fmt.Errorf("decoding the next certificates: %w", err)
	}
	for host := range before.Servers {
		if _, still := after.Servers[host]; !still {
			after.Servers[host] = noCertificate
		}
	}
	return json.Marshal(after)
}
