package model

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
)

// addServerSettings applies the annotations that affect a whole host. For each setting, the oldest
// ingress wins.
func (b *builder) addServerSettings() {
	for _, ingress := range b.Ingresses {
		if b.isCanary(ingress) {
			continue
		}
		for _, host := range hosts(ingress) {
			if server := b.servers[host]; server != nil {
				b.addSettings(server, ingress)
			}
		}
	}
	b.settleAliases()
}

func (b *builder) addSettings(server *Server, ingress *networkingv1.Ingress) {
	set := b.annotations(ingress)
	if closure := b.Closed[ingress]; closure.ServerSnippet && server.ServerSnippet == "" {
		server.closed = &closure.Reason
	}
	for _, setting := range []struct {
		name   string
		value  string
		server *string
	}{
		{"server-snippet", set.Snippets.Server, &server.ServerSnippet},
		{"ssl-ciphers", set.SSL.Ciphers, &server.SSLCiphers},
		{"ssl-prefer-server-ciphers", set.SSL.PreferServerCiphers, &server.SSLPreferServerCiphers},
	} {
		if *setting.server == "" {
			*setting.server = setting.value
		} else if setting.value != "" && setting.value != *setting.server {
			b.find(ingress, b.annotationKey(setting.name), "an older ingress of %s sets another value; this one is ignored", server.Hostname)
		}
	}
	b.addAliases(server, ingress, set.Aliases)
	if set.Redirect.FromToWWW && !server.RedirectFromToWWW {
		server.RedirectFromToWWW = true
		b.fromToWWW = append(b.fromToWWW, serverWish{server, ingress})
	}
}

// serverWish is a server and an ingress that requests a setting for it.
type serverWish struct {
	server  *Server
	ingress *networkingv1.Ingress
}

// hosts returns the hosts in the rules of an ingress without duplicates.
func hosts(ingress *networkingv1.Ingress) []string {
	var all []string
	for _, rule := range ingress.Spec.Rules {
		if host := cmp.Or(rule.Host, DefaultServerName); !slices.Contains(all, host) {
			all = append(all, host)
		}
	}
	return all
}

func (b *builder) addAliases(server *Server, ingress *networkingv1.Ingress, aliases []string) {
	switch {
	case len(aliases) == 0:
	case len(server.Aliases) > 0:
		if !slices.Equal(server.Aliases, aliases) {
			b.find(ingress, b.annotationKey("server-alias"), "an older ingress of %s sets another value; this one is ignored", server.Hostname)
		}
	default:
		server.Aliases = aliases
		b.aliased = append(b.aliased, serverWish{server, ingress})
	}
}

// settleAliases assigns each alias to one server. A server with that hostname wins, then the oldest
// ingress. It sorts the aliases and removes duplicates.
func (b *builder) settleAliases() {
	b.aliases = make(map[string]*Server)
	for _, w := range b.aliased {
		var kept []string
		for _, alias := range w.server.Aliases {
			if err := badServerName(alias); err != nil {
				b.find(w.ingress, b.annotationKey("server-alias"), "%s: %v; this is ignored", shown(alias), err)
			} else if holder := b.holderOf(alias); holder == nil {
				b.aliases[alias] = w.server
				kept = append(kept, alias)
			} else if holder != w.server {
				b.find(w.ingress, b.annotationKey("server-alias"), "%s already belongs to %s; this is ignored", shown(alias), holder.Hostname)
			}
		}
		slices.Sort(kept)
		w.server.Aliases = kept
	}
}

// holderOf returns the server that has the name as its hostname or as an alias, or nil.
func (b *builder) holderOf(name string) *Server {
	if server := b.servers[name]; server != nil {
		return server
	}
	return b.aliases[name]
}

// redirects returns the hosts that only redirect to their counterpart with or without "www.".
func (b *builder) redirects() []Redirect {
	var all []Redirect
	for _, w := range b.fromToWWW {
		to := w.server.Hostname
		from := counterpart(to)
		key := b.annotationKey("from-to-www-redirect")
		if to == DefaultServerName || strings.HasPrefix(to, "*.") {
			b.find(w.ingress, key, "%s is not a single name; nothing is redirected to it", to)
		} else if holder := b.holderOf(from); holder != nil {
			b.find(w.ingress, key, "%s already belongs to %s; it is not redirected to %s", from, holder.Hostname, to)
		} else {
			all = append(all, Redirect{From: from, To: to})
		}
	}
	slices.SortFunc(all, compareRedirects)
	return all
}
