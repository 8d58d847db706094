package blocks_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/controller/internal/blocks"
)

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestListsContainTheirElements(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 129, 1000} {
		list := blocks.Of(numbers(n))
		if list.Len() != n || !slices.Equal(list.Slice(), numbers(n)) || !slices.Equal(slices.Collect(list.All()), numbers(n)) {
			t.Errorf("a list of %d elements contains %v", n, list.Slice())
		}
		for i := range n {
			changed := list.With(i, -1)
			want := numbers(n)
			want[i] = -1
			if !slices.Equal(changed.Slice(), want) || list.At(i) != i || changed.At(i) != -1 {
				t.Fatalf("with element %d of %d changed, the list is %v", i, n, changed.Slice())
			}
			before, now := blocks.Differing(list, changed)
			if fmt.Sprint(before, now) != fmt.Sprint([]int{i}, []int{-1}) {
				t.Fatalf("with element %d of %d changed, the lists differ in %v, %v", i, n, before, now)
			}
		}
	}
}

func TestDiffering(t *testing.T) {
	whole := numbers(300)
	before, now := blocks.Differing(blocks.Of(whole), blocks.Of(slices.Delete(slices.Clone(whole), 140, 142)))
	if fmt.Sprint(before, now) != "[140 141] []" {
		t.Errorf("with two elements removed, the lists differ in %v, %v", before, now)
	}
	before, now = blocks.Differing(blocks.List[int]{}, blocks.Of(numbers(2)))
	if fmt.Sprint(before, now) != "[] [0 1]" {
		t.Errorf("from an empty list, the lists differ in %v, %v", before, now)
	}
}

// A Memo calls the function only for new elements, with the same result as for the whole list.
func TestMemo(t *testing.T) {
	calls := 0
	text := func(i int) (string, error) {
		calls++
		if i == -2 {
			return "", errors.New("not this one")
		}
		return fmt.Sprint(i), nil
	}
	var memo blocks.Memo[int, string]
	list := blocks.Of(numbers(300))
	for _, test := range []struct {
		what  string
		list  blocks.List[int]
		calls int
	}{
		{"all are new", list, 300},
		{"one is new", list.With(200, -1), 1},
		{"the first again", list, 1},
		{"one is gone", blocks.Of(slices.Delete(numbers(300), 5, 6)), 15}, // those that are not looked for elsewhere
		{"none is left", blocks.List[int]{}, 0},
	} {
		calls = 0
		got, err := memo.Map(test.list, text)
		if err != nil || calls != test.calls {
			t.Errorf("%s: %d calls, want %d; %v", test.what, calls, test.calls, err)
		}
		if want := strings.Fields(strings.Trim(fmt.Sprint(test.list.Slice()), "[]")); !slices.Equal(got.Slice(), want) {
			t.Errorf("%s: %v", test.what, got.Slice())
		}
	}
	if _, err := memo.Map(list.With(3, -2), text); err == nil {
		t.Error("no error")
	}
}
