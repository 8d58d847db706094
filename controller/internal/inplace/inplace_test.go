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

type referring struct {
	list  []string
	table map[string]string
}

func TestEqualComparesWhatPointersReferTo(t *testing.T) {
	var c Comparer[referring]
	last := referring{list: []string{"a"}, table: map[string]string{"a": "b"}}
	for _, equal := range []referring{last, {list: []string{"a"}, table: map[string]string{"a": "b"}}} {
		if !c.Equal(equal, &last) {
			t.Errorf("%v and %v differ", equal, last)
		}
	}
	for _, other := range []referring{{list: last.list}, {list: last.list[:0], table: last.table}, {list: []string{"b"}, table: last.table}} {
		if c.Equal(other, &last) {
			t.Errorf("%v is equal to %v", other, last)
		}
	}
}

func BenchmarkEqual(b *testing.B) {
	last := large{list: []string{"a"}}
	for name, value := range map[string]large{"copy": last, "another": {list: []string{"a"}}} {
		b.Run(name, func(b *testing.B) {
			var c Comparer[large]
			for b.Loop() {
				c.Equal(value, &last)
			}
		})
	}
}
