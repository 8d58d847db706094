package model

import (
	"encoding/base64"

	"windtunnel.dev/controller/tls"
)

// ticketKeyFile is the path at which ingress-nginx's template expects the file.
const ticketKeyFile = "/etc/ingress-controller/tickets.key"

// addDHParam adds the Diffie-Hellman parameters from the Secret that the ConfigMap names.
func (b *builder) addDHParam() {
	if b.options.Config.SSLDHParam == "" {
		return
	}
	name := parseName(b.options.Config.SSLDHParam)
	secret, err := b.secret(name)
	if err == nil {
		err = tls.CheckDHParam(secret.Data[tls.DHParamKey])
	}
	if err != nil {
		b.findSecret(name, "it cannot be used for ssl-dh-param: %v; DHE is off", err)
		return
	}
	b.common.dhParam = b.file(sslFolder+fileName("dhparam", name), secret.Data[tls.DHParamKey])
}

// addTicketKey adds the key for session tickets from the ConfigMap.
func (b *builder) addTicketKey() {
	key, err := base64.StdEncoding.DecodeString(b.options.Config.SSLSessionTicketKey)
	if err == nil && len(key) > 0 {
		b.file(ticketKeyFile, key)
	}
}
