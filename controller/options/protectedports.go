package options

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Protected returns the protected ports, sorted: those of the servers that accept commands or
// publish internal state. On loopback, these ports are only for the controller and for tools in its
// pod. No address that an ingress names may lead there, because nginx and the controller open the
// connections inside the pod. Ports that listen on all addresses, by default Health, are reachable
// at the pod's own address.
func (p Ports) Protected() []int {
	ports := []int{p.Status, p.Stream, p.Health, p.SSLProxy, p.Profiler}
	ports = slices.DeleteFunc(ports, func(port int) bool { return port == 0 })
	slices.Sort(ports)
	return slices.Compact(ports)
}

// ProtectedReason is the reason why a URL cannot be used if NamesProtected is true.
const ProtectedReason = "that is a port of the controller's own, or a Unix socket"

// IsProtected reports whether an address and port lead to a protected port. The unspecified address
// counts as loopback, as on Linux.
func (p Ports) IsProtected(address netip.Addr, port int) bool {
	address = address.Unmap()
	return (address.IsLoopback() || address.IsUnspecified()) && slices.Contains(p.Protected(), port)
}

// NamesProtected reports whether a URL names a protected port or a Unix socket, in any notation of
// an address. It does not resolve DNS names or nginx variables.
func (p Ports) NamesProtected(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return false
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#$"); end >= 0 {
		authority = rest[:end]
	}
	if strings.HasPrefix(strings.ToLower(authority), "unix:") {
		return true
	}
	u, err := url.Parse(scheme + "://" + authority)
	if err != nil {
		return false
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		return false // without a port, or with a variable, we cannot recognise a protected port
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761, 6.3
		return slices.Contains(p.Protected(), port)
	}
	address, ok := parseAddress(host)
	return ok && p.IsProtected(address, port)
}

// parseAddress also parses the notations that the C library's inet_aton accepts: fewer than four
// parts, each decimal, octal or hexadecimal. The last part fills the remaining bytes.
func parseAddress(text string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(text); err == nil {
		return address.WithZone(""), true
	}
	parts := strings.Split(text, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var all uint64
	for i, part := range parts {
		number, err := strconv.ParseUint(part, 0, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			all |= number << (24 - 8*i)
		} else {
			all |= number
		}
	}
	return netip.AddrFrom4([4]byte{byte(all >> 24), byte(all >> 16), byte(all >> 8), byte(all)}), true
}
