package behave

import "testing"

// A run waits for log lines only while they may still change the outcome, and longer while expected
// lines are missing.
func TestSettled(t *testing.T) {
	exactly := func(n int) *Count { return &Count{Min: &n, Max: &n} }
	atLeast := func(n int) *Count { return &Count{Min: &n} }
	for name, test := range map[string]struct {
		want    *Lines
		lines   []string
		lacks   bool
		settled bool
	}{
		"nothing is expected":      {nil, nil, false, true},
		"one or more, none yet":    {&Lines{}, nil, true, false},
		"one or more, one":         {&Lines{}, []string{"a"}, false, true},
		"one that matches, none":   {&Lines{Matches: "b"}, []string{"a"}, true, false},
		"at least two, two":        {&Lines{Count: atLeast(2)}, []string{"a", "b"}, false, true},
		"none, none yet":           {&Lines{Count: exactly(0)}, nil, false, false},
		"exactly one, one for now": {&Lines{Count: exactly(1)}, []string{"a"}, false, false},
		"exactly one, too many":    {&Lines{Count: exactly(1)}, []string{"a", "b"}, false, true},
	} {
		if got := test.want.Lacks(test.lines); got != test.lacks {
			t.Errorf("%s: lacks %v", name, got)
		}
		if got := test.want.Settled(test.lines); got != test.settled {
			t.Errorf("%s: %v", name, got)
		}
	}
}
