package wire

import (
	"encoding/json"
	"fmt"

	"windtunnel.dev/controller/model"
)

// noCertificate is what Lua is told of a host without a certificate.
const noCertificate = "-1"

// certificates is the body of POST /configuration/servers: texts by UID, and
// UIDs by host.
type certificates struct {
	Certificates map[string]string `json:"certificates"`
	Servers      map[string]string `json:"servers"`
}

// Servers is which host has which certificate, and the certificates with their
// keys. An alias and the host that is redirected to another's have its
// certificate if it is one of theirs, too. Hosts without a certificate are not
// in it: Lua knows none of a host that it was not told of.
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

// ServersKeeping returns the certificates of next, and those of hosts that only
// running has.
func ServersKeeping(running, next []byte) ([]byte, error) {
	if len(running) == 0 || len(next) == 0 {
		return next, nil
	}
	var before, after certificates
	if err := json.Unmarshal(running, &before); err != nil {
		return nil, fmt.Errorf("reading the certificates that Lua has: %w", err)
	}
	if err := json.Unmarshal(next, &after); err != nil {
		return nil, fmt.Errorf("reading the certificates that Lua is to have: %w", err)
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

// ServersAfter is the body of POST /configuration/servers that makes of Lua that
// was told running one that was told next: Lua keeps what it is not told of, so
// hosts that had a certificate are said to have none.
func ServersAfter(running, next []byte) ([]byte, error) {
	if len(running) == 0 {
		return next, nil
	}
	var before, after certificates
	if err := json.Unmarshal(running, &before); err != nil {
		return nil, fmt.Errorf("reading the certificates that Lua has: %w", err)
	}
	if err := json.Unmarshal(next, &after); err != nil {
		return nil, fmt.Errorf("reading the certificates that Lua is to have: %w", err)
	}
	for host := range before.Servers {
		if _, still := after.Servers[host]; !still {
			after.Servers[host] = noCertificate
		}
	}
	return json.Marshal(after)
}
