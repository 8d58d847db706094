package simulated

import (
	"fmt"
	"net"
	"net/netip"
)

// block is a range of loopback addresses for the pods of one subject.
type block struct {
	prefix netip.Prefix
	claim  net.Listener
}

// claimBlock claims the first of the blocks 127.64.0.0/16, 127.65.0.0/16 … that no other run on
// this machine has claimed. A claim is a listener on the first address of the block, which no pod
// gets.
func claimBlock() (block, error) {
	var last error
	for second := 64; second < 255; second++ {
		first := netip.AddrFrom4([4]byte{127, byte(second), 0, 0})
		claim, err := net.Listen("tcp4", netip.AddrPortFrom(first, podPort).String())
		if err == nil {
			return block{netip.PrefixFrom(first, 16), claim}, nil
		}
		last = err
	}
	return block{}, fmt.Errorf("no block of loopback addresses is free for pods: %w; stop the program that listens on port %d of all addresses", last, podPort)
}

func (b block) release() { b.claim.Close() }
