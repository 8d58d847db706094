package watch

import (
	"fmt"
	"testing"
)

func TestRingDropsTheOldest(t *testing.T) {
	ring := NewRing(4)
	// Nobody reads: the fifth and later push the first ones out. One more
	// than its size may be held, on its way to the reader.
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
		t.Errorf("%d changes were left of a ring of 4: %v", len(numbers), numbers)
	}
	for i := 1; i < len(numbers); i++ {
		if numbers[i] <= numbers[i-1] {
			t.Errorf("numbers do not rise: %v", numbers)
		}
	}
	if last := numbers[len(numbers)-1]; last != 100 || ring.Newest() != 100 {
		t.Errorf("the newest is lost: read %d, numbered %d", last, ring.Newest())
	}
}
