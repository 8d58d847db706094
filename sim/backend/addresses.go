package backend

import (
	"fmt"
	"net/netip"
)

// addresses hands out each address of a prefix once, in order, except the first
// and the last, which are the network and its broadcast address. It never hands out
// an address again, so an answer from it can only come from its pod.
type addresses struct {
	prefix netip.Prefix
	last   netip.Addr // that was handed out
}

// benchmarks is reserved for benchmarking (RFC 2544): no other network uses these
// addresses, so a machine may use them as its own.
var benchmarks = netip.MustParsePrefix("198.18.0.0/15")

func newAddresses(p netip.Prefix) addresses {
	p = p.Masked()
	return addresses{prefix: p, last: p.Addr()}
}

func (a *addresses) next() (netip.Addr, error) {
	loopback := a.prefix.Addr().Is4() && a.prefix.Addr().IsLoopback() && a.prefix.Bits() >= 8
	if !loopback && (!benchmarks.Contains(a.prefix.Addr()) || a.prefix.Bits() < benchmarks.Bits()) {
		return netip.Addr{}, fmt.Errorf("the pods' prefix %v does not lie in 127.0.0.0/8 or %v", a.prefix, benchmarks)
	}
	address := a.last.Next()
	if !a.prefix.Contains(address.Next()) {
		return netip.Addr{}, fmt.Errorf("all addresses of %v have been used, and none is used twice in a run; give the pods a wider prefix", a.prefix)
	}
	a.last = address
	return address, nil
}

// lastOf returns the last address of a prefix, which no pod gets. It is that of shared sockets.
func lastOf(p netip.Prefix) netip.Addr {
	last := p.Masked().Addr().AsSlice()
	for bit := p.Bits(); bit < 8*len(last); bit++ {
		last[bit/8] |= 0x80 >> (bit % 8)
	}
	address, _ := netip.AddrFromSlice(last)
	return address
}
