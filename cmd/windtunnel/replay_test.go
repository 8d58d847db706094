package main

import "testing"

// What is printed never claims more than was compared.
func TestComparedChanges(t *testing.T) {
	for _, test := range []struct {
		before, now int
		interrupted bool
		want        string
	}{
		{4, 4, false, "the same 4 changes as in first"},
		{0, 4, false, "0 of 4 changes could be compared: the log of first has none"},
		{3, 4, false, "3 of 4 changes could be compared, and are the same: the log of first has no more"},
		{4, 3, false, "3 of 4 changes could be compared, and are the same: the replay made only 3"},
		{4, 0, true, "0 of 4 changes could be compared: the replay was interrupted"},
		{4, 3, true, "3 of 4 changes could be compared, and are the same: the replay was interrupted"},
		{0, 0, false, "no change could be compared: neither first nor its replay made one"},
	} {
		if got := comparedChanges(min(test.before, test.now), test.before, test.now, "first", test.interrupted); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}
