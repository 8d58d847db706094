package backend_test

import (
	"net/netip"
	"testing"

	"windtunnel.dev/sim/backend"
)

func TestBlocksAreExclusiveAndReusable(t *testing.T) {
	const port = 18080
	one, err := backend.ClaimBlock(port)
	if err != nil {
		t.Fatal(err)
	}
	other, err := backend.ClaimBlock(port)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	if one.Prefix.Overlaps(other.Prefix) || !netip.MustParsePrefix("127.0.0.0/8").Overlaps(one.Prefix) {
		t.Errorf("blocks %v and %v", one.Prefix, other.Prefix)
	}
	if one.Prefix.Bits() != other.Prefix.Bits() || 1<<(32-one.Prefix.Bits())-2 != backend.BlockPods {
		t.Errorf("blocks %v and %v, for %d pods each", one.Prefix, other.Prefix, backend.BlockPods)
	}
	one.Release()
	again, err := backend.ClaimBlock(port)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Release()
	if again.Prefix.Overlaps(other.Prefix) {
		t.Errorf("block %v overlaps one that is in use", again.Prefix)
	}
}
