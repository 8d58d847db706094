package options

import "strings"

// BindAddressIpv4 returns the IPv4 addresses to listen on.
func (c Config) BindAddressIpv4() []string {
	var v4 []string
	for _, address := range c.BindAddress {
		if !strings.Contains(address, ":") {
			v4 = append(v4, address)
		}
	}
	return v4
}

// BindAddressIpv6 returns the IPv6 addresses to listen on, in brackets.
func (c Config) BindAddressIpv6() []string {
	var v6 []string
	for _, address := range c.BindAddress {
		if strings.Contains(address, ":") {
			v6 = append(v6, "["+address+"]")
		}
	}
	return v6
}
