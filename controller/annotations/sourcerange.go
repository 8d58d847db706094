package annotations

import (
	"net/netip"
	"slices"
)

// SourceRange contains sorted networks of clients.
type SourceRange struct {
	CIDR []string
}

var sourceRange = Family{
	Name: "source ranges",
	Keys: []Key{
		{Name: "allowlist-source-range", Aliases: []string{"whitelist-source-range"}, Doc: "Allowed clients; others get 403.", Risk: Medium, Scope: OfLocation, Want: Networks, Bad: DeniesRequest, Protects: allowList, TurnsOn: true},
		{Name: "denylist-source-range", Doc: "Denied clients.", Risk: Medium, Scope: OfLocation, Want: Networks, Bad: DeniesRequest, Protects: denyList, TurnsOn: true},
	},
	parse: func(r *reader, set *Set) {
		set.Allowlist.CIDR = r.networks("allowlist-source-range", r.options.Config.WhitelistSourceRange)
		set.Denylist.CIDR = r.networks("denylist-source-range", r.options.Config.DenylistSourceRange)
	},
}

func (r *reader) networks(name string, otherwise []string) []string {
	if !r.has(name) {
		return networks(otherwise)
	}
	return networks(r.list(name))
}

// networks returns addresses and networks in nginx's format: without bits beyond the mask, and
// without duplicates.
func networks(listed []string) []string {
	var found []string
	for _, item := range listed {
		if prefix, err := netip.ParsePrefix(item); err == nil {
			item = prefix.Masked().String()
		}
		found = append(found, item)
	}
	slices.Sort(found)
	return slices.Compact(found)
}
