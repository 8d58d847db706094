package main

import (
	"testing"
	"time"
)

func TestTimesMayDifferByTheBoundsOfTheClocks(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name              string
		a, b              []time.Duration
		compared, differs int
	}{
		{"equal", []time.Duration{0, 10 * ms}, []time.Duration{0, 10 * ms}, 2, 0},
		{"within the tolerance", []time.Duration{0, 10 * ms}, []time.Duration{0, 12 * ms}, 2, 0},
		{"beyond it", []time.Duration{0, 10 * ms}, []time.Duration{0, 13 * ms}, 2, 1},
		{"one is missing", []time.Duration{0, 10 * ms}, []time.Duration{0}, 2, 1},
		{"all are missing", nil, []time.Duration{0, 10 * ms, 200 * ms}, 2, 2},
		{"after the end", []time.Duration{0, 10 * ms}, []time.Duration{0, 10 * ms, 200 * ms}, 2, 0},
	} {
		compared, differ := compareTimes(test.a, test.b, 100*ms, 2*ms)
		if compared != test.compared || differ != test.differs {
			t.Errorf("%s: %d of %d differ, want %d of %d", test.name, differ, compared, test.differs, test.compared)
		}
	}
}
