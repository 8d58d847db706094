package kept

import "testing"

type large struct {
	texts [200]string
	list  []string
}

func TestEquals(t *testing.T) {
	var v Value[large]
	if !v.Equals(large{}) {
		t.Error("the zero Value does not keep the zero value")
	}
	if v.Equals(large{texts: [200]string{199: "a"}}) {
		t.Error("another text is equal")
	}
	v.Keep(large{list: []string{"a"}})
	if !v.Equals(large{list: []string{"a"}}) || v.Equals(large{list: []string{"b"}}) || v.Equals(large{}) {
		t.Error("equal and other values are confused")
	}
	if !v.Equals(large{list: []string{"a"}}) {
		t.Error("a comparison replaced the value")
	}
}

func TestEqualsAllocatesLittle(t *testing.T) {
	var v Value[large]
	if bytes := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			v.Equals(large{})
		}
	}).AllocedBytesPerOp(); bytes > 1000 {
		t.Errorf("a comparison allocated %d bytes, almost the size of a value", bytes)
	}
}
