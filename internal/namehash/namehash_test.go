package namehash

import "testing"

func TestOf(t *testing.T) {
	one := Of([]byte("key"), "shop")
	if len(one) != length || one != Of([]byte("key"), "shop") {
		t.Errorf("got %q and %q", one, Of([]byte("key"), "shop"))
	}
	if one == Of([]byte("other"), "shop") || one == Of([]byte("key"), "shops") {
		t.Error("the hash depends on the key and on the text")
	}
}
