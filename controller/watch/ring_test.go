package watch

import (
	"fmt"
	"testing"
)

func TestRingDropsTheOldest(t *testing.T) {
	ring := NewRing(4)
	// Nothing reads, so the fifth and later changes push out the first ones. The channel may hold
	// one more than its size, on the way to the reader.
	for i := range 100 {
		ring.Put(fmt.Sprint("change ", i+1), false)
	}
	ring.Close()
	ring.Put("too late", false)

	var numbers []uint64
	ring.Each(func(c Change) {
		if want := fmt.Sprint("change ", c.Number); c.What != want {
			t.Errorf("change %d is %q", c.Number, c.What)
		}
		numbers = append(numbers, c.Number)
	})
	if len(numbers) < 4 || len(numbers) > 6 {
		t.Errorf("%d changes remain in a ring of 4: %v", len(numbers), numbers)
	}
	for i := 1; i < len(numbers); i++ {
		if numbers[i] <= numbers[i-1] {
			t.Errorf("numbers do not increase: %v", numbers)
		}
	}
	if last := numbers[len(numbers)-1]; last != 100 || ring.Newest() != 100 {
		t.Errorf("the newest change is lost: the last one read is %d, Newest is %d", last, ring.Newest())
	}
}
