package openfiles

import (
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	for _, test := range []struct {
		subjects, sockets, limit int
		want                     string // "": it fits
	}{
		{1, 10_000, 10_500, ""},
		{1, 10_001, 10_500, "1 subject × 10001 sockets + 500 other files = 10501 open files, and the limit is 10500"},
		{2, 10_000, 20_000, "2 subjects × 10000 sockets + 500 other files = 20500 open files, and the limit is 20000"},
		{2, 9_750, 20_000, ""},
		{1, 0, 100, ""},
		{1, 1, 100, "limit is 100"},
	} {
		err := Fit(test.subjects, test.sockets, test.limit)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("Fit(%d, %d, %d) = %v, want %q", test.subjects, test.sockets, test.limit, err, test.want)
		}
	}
}

func TestLimit(t *testing.T) {
	if limit, err := Limit(); err != nil || limit < 3 {
		t.Errorf("Limit = %d, %v", limit, err)
	}
}
