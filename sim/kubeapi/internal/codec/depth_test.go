package codec

import (
	"testing"
)

func TestNesting(t *testing.T) {
	for text, want := range map[string][2]int{
		``:                 {0, 0},
		`"a"`:              {0, 0},
		`{}`:               {1, 1},
		`{"a":[1]}`:        {2, 1*5 + 2*2 + 1},
		`{"a{[":"\\\"{["}`: {1, 15},
		`[[[`:              {3, 1 + 2},
		`]]]{`:             {0, -1 - 2 - 3},
	} {
		if deepest, bytes := Nesting([]byte(text)); deepest != want[0] || bytes != want[1] {
			t.Errorf("%s: depth %d, %d bytes, want %v", text, deepest, bytes, want)
		}
	}
}
