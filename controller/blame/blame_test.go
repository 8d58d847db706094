package blame_test

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"windtunnel.dev/controller/blame"
)

// numbers are 0 to n-1.
func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Whatever is bad by itself or clashes with another: without the guilty all
// are taken, and each guilty one is refused besides those that are left.
func TestFind(t *testing.T) {
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		suspects := numbers(1 + random.IntN(200))
		bad, clashes := map[int]bool{}, map[int]int{}
		for range 1 + random.IntN(3) {
			bad[suspects[random.IntN(len(suspects))]] = true
		}
		for range random.IntN(3) {
			clashes[suspects[random.IntN(len(suspects))]] = suspects[random.IntN(len(suspects))]
		}
		isTaken := func(part []int) bool {
			return !slices.ContainsFunc(part, func(x int) bool {
				other, clash := clashes[x]
				return bad[x] || clash && other != x && slices.Contains(part, other)
			})
		}
		asked := 0
		guilty, innocent, err := blame.Find(suspects, func(part []int) (bool, error) {
			asked++
			if !slices.IsSorted(part) {
				t.Fatalf("seed %d: asked about %v, not in order", seed, part)
			}
			return isTaken(part), nil
		})
		if err != nil || innocent || len(guilty) == 0 {
			t.Fatalf("seed %d: guilty %v, innocent %t, %v", seed, guilty, innocent, err)
		}
		rest := slices.DeleteFunc(slices.Clone(suspects), func(x int) bool { return slices.Contains(guilty, x) })
		if !isTaken(rest) {
			t.Fatalf("seed %d: without %v the rest is refused", seed, guilty)
		}
		for _, g := range guilty {
			if isTaken(append(slices.Clone(rest), g)) {
				t.Errorf("seed %d: %d is innocent", seed, g)
			}
		}
		if limit := 2 + 2*len(guilty)*(1+bits.Len(uint(len(suspects)))); asked > limit {
			t.Errorf("seed %d: asked %d times for %d guilty among %d, limit %d", seed, asked, len(guilty), len(suspects), limit)
		}
	}
}

func TestFindElsewhere(t *testing.T) {
	guilty, innocent, err := blame.Find(numbers(10), func([]int) (bool, error) { return false, nil })
	if !innocent || guilty != nil || err != nil {
		t.Errorf("guilty %v, innocent %t, %v", guilty, innocent, err)
	}
}

func TestFindIsInterrupted(t *testing.T) {
	late := errors.New("too late")
	asked := 0
	guilty, innocent, err := blame.Find(numbers(64), func(part []int) (bool, error) {
		if asked++; asked > 8 {
			return false, late
		}
		return !slices.Contains(part, 1) && !slices.Contains(part, 60), nil
	})
	if !errors.Is(err, late) || innocent || !slices.Equal(guilty, []int{1}) {
		t.Errorf("guilty %v, innocent %t, %v; want those found so far", guilty, innocent, err)
	}
}
