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

// block is a range of addresses for the pods of one subject. A local route makes them addresses of
// this machine, without a device. The nodes send packets for them to their gateway, which is this
// machine.
type block struct {
	prefix netip.Prefix
	claim  net.Listener
}

const (
	blockBits = 19
	blockPods = 1<<(32-blockBits) - 2 // none of their addresses is used twice
)

// claimBlock claims the first block of 198.18.0.0/15 that no other run has claimed. A claim is a
// listener on the first address of the block, which no pod gets.
func claimBlock() (block, error) {
	var taken error
	for n := range 1 << (blockBits - 15) {
		first := netip.AddrFrom4([4]byte{198, byte(18 + n>>3), byte(n << 5), 0})
		prefix := netip.PrefixFrom(first, blockBits)
		added := route(prefix, netlink.RouteAdd)
		if added != nil && !errors.Is(added, os.ErrExist) { // another run has the route, or left it behind
			return block{}, fmt.Errorf("cannot add addresses for pods to this machine (it needs root): route to %v: %w", prefix, added)
		}
		claim, err := net.Listen("tcp4", netip.AddrPortFrom(first, PodPort).String())
		if err == nil {
			return block{prefix, claim}, nil
		}
		taken = err
		if added == nil { // no run had the block, so a program listens on the port of all addresses
			taken = errors.Join(err, route(prefix, netlink.RouteDel))
		}
	}
	return block{}, fmt.Errorf("no block of addresses is free for pods; stop the program that listens on port %d of all addresses, or other runs of the driver kind: %w", PodPort, taken)
}

func (b block) release() error {
	if b.claim == nil {
		return nil
	}
	defer b.claim.Close() // last, so that the block counts as claimed until it is gone completely
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
