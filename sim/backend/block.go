package backend

import (
	"fmt"
	"net"
	"net/netip"
)

// Block is a range of loopback addresses for the pods of one subject.
type Block struct {
	Prefix netip.Prefix
	claim  net.Listener
}

const blockBits = 14

// BlockPods is the number of pods that a block has addresses for. Each address is used only once.
const BlockPods = 1<<(32-blockBits) - 2

// ClaimBlock claims the first of the blocks 127.64.0.0/14, 127.68.0.0/14 … that no other run on
// this machine has claimed. A claim is a listener on the first address of the block, at the port of
// the pods; no pod gets that address.
func ClaimBlock(port int) (Block, error) {
	var last error
	for second := 64; second < 252; second += 1 << (16 - blockBits) {
		first := netip.AddrFrom4([4]byte{127, byte(second), 0, 0})
		claim, err := net.Listen("tcp4", netip.AddrPortFrom(first, uint16(port)).String())
		if err == nil {
			return Block{netip.PrefixFrom(first, blockBits), claim}, nil
		}
		last = err
	}
	return Block{}, fmt.Errorf("no block of loopback addresses is free for pods: %w; stop the program that listens on port %d of all addresses", last, port)
}

// Release ends the claim.
func (b Block) Release() { b.claim.Close() }
