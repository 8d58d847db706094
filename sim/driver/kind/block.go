package kind

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// block is a range of addresses for the pods of one subject. They are this
// machine's by a route alone, on no device: nodes send what is for them to their
// gateway, which is this machine, and it takes it.
type block struct {
	prefix netip.Prefix
	claim  net.Listener
}

const blockBits = 19 // 8190 addresses, none of which is used twice

// claimBlock takes the first block of 198.18.0.0/15 that no other run has: who
// holds one listens on its very first address, which no pod gets.
func claimBlock() (block, error) {
	var taken error
	for n := range 1 << (blockBits - 15) {
		first := netip.AddrFrom4([4]byte{198, byte(18 + n>>3), byte(n << 5), 0})
		prefix := netip.PrefixFrom(first, blockBits)
		added := route(prefix, netlink.RouteAdd)
		if added != nil && !errors.Is(added, os.ErrExist) { // of a run that has died, or lives
			return block{}, fmt.Errorf("this machine cannot take addresses for pods (it needs root): route to %v: %w", prefix, added)
		}
		claim, err := net.Listen("tcp4", netip.AddrPortFrom(first, PodPort).String())
		if err == nil {
			return block{prefix, claim}, nil
		}
		taken = err
		if added == nil { // nobody had the block, so somebody has the port of all addresses
			taken = errors.Join(err, route(prefix, netlink.RouteDel))
		}
	}
	return block{}, fmt.Errorf("no block of addresses is free for pods; end what listens on port %d of all addresses, or other runs of the driver kind: %w", PodPort, taken)
}

func (b block) release() error {
	if b.claim == nil {
		return nil
	}
	defer b.claim.Close() // last: whoever claims the block before finds it taken, not half gone
	return route(b.prefix, netlink.RouteDel)
}

func route(to netip.Prefix, do func(*netlink.Route) error) error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return do(&netlink.Route{
		Dst:       &net.IPNet{IP: to.Addr().AsSlice(), Mask: net.CIDRMask(to.Bits(), 32)},
		LinkIndex: loopback.Attrs().Index,
		Table:     unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL, Scope: netlink.SCOPE_HOST,
	})
}
