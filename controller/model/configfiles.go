package model

import (
	"encoding/base64"

	"windtunnel.dev/controller/tls"
)

// ticketKeyFile is where ingress-nginx's template looks for it.
const ticketKeyFile = "/etc/ingress-controller/tickets.key"

// addDHParam adds the Diffie-Hellman group that the ConfigMap names.
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
		b.findSecret(name, "ssl-dh-param names it: %v; there is no DHE", err)
		return
	}
	b.dhParam = b.file(sslFolder+fileName("dhparam", name), secret.Data[tls.DHParamKey])
}

// addTicketKey adds the key of session tickets that the ConfigMap has.
func (b *builder) addTicketKey() {
	key, err := base64.StdEncoding.DecodeString(b.options.Config.SSLSessionTicketKey)
	if err == nil && len(key) > 0 {
		b.file(ticketKeyFile, key)
	}
}
