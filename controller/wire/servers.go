package wire

import (
	"encoding/json"
	"fmt"

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
func Servers(m *model.Model) ([]byte, error) {
	all := certificates{Certificates: map[string]string{}, Servers: map[string]string{}}
	for _, server := range m.Servers {
		all.add(server.Hostname, server.SSLCert)
		for _, alias := range server.Aliases {
			if server.SSLCert.Covers(alias) {
				all.add(alias, server.SSLCert)
			}
		}
	}
	for _, redirect := range m.RedirectServers {
		all.add(redirect.From, redirect.SSLCert)
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encoding certificates: %w", err)
	}
	return text, nil
}

func (c certificates) add(host string, certificate *model.SSLCert) {
	if certificate == nil {
		return
	}
	c.Servers[host] = certificate.UID
	c.Certificates[certificate.UID] = certificate.PemCertKey
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
