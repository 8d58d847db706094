package inplace

import "testing"

type large struct {
	texts [200]string
	list  []string
}

func TestEqual(t *testing.T) {
	var c Comparer[large]
	last := large{list: []string{"a"}}
	if !c.Equal(large{list: []string{"a"}}, &last) {
		t.Error("equal values differ")
	}
	for _, other := range []large{{}, {list: []string{"b"}}, {texts: [200]string{199: "a"}, list: []string{"a"}}} {
		if c.Equal(other, &last) {
			t.Errorf("%v is equal to %v", other, last)
		}
	}
}

func TestEqualCopiesNothingToTheHeap(t *testing.T) {
	var c Comparer[large]
	var last large
	if bytes := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			c.Equal(large{}, &last)
		}
	}).AllocedBytesPerOp(); bytes > 1000 {
		t.Errorf("a comparison allocated %d bytes; a value has more than 3000", bytes)
	}
}
