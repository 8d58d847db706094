package fractional_test

import (
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/internal/fractional"
)

func design(t *testing.T, factors, halvings int) fractional.Design {
	t.Helper()
	d, err := fractional.New(factors, halvings)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The designs have the numbers of words by length, from three on, of the minimum aberration designs in
// the literature (J. Chen, D. X. Sun and C. F. J. Wu, A Catalogue of Two-Level and Three-Level Fractional
// Factorial Designs with Small Runs, 1993; G. E. P. Box and others, Statistics for Experimenters).
func TestKnownDesigns(t *testing.T) {
	for _, test := range []struct {
		factors, halvings, resolution int
		words                         []int // of length 3, 4, …
	}{
		{3, 1, 3, []int{1}},
		{4, 1, 4, []int{0, 1}},
		{5, 1, 5, []int{0, 0, 1}},
		{5, 2, 3, []int{2, 1}},
		{6, 1, 6, []int{0, 0, 0, 1}},
		{6, 2, 4, []int{0, 3}},
		{6, 3, 3, []int{4, 3}},
		{7, 1, 7, []int{0, 0, 0, 0, 1}},
		{7, 2, 4, []int{0, 1, 2}},
		{7, 3, 4, []int{0, 7}},
		{7, 4, 3, []int{7, 7, 0, 0, 1}},
		{8, 2, 5, []int{0, 0, 2, 1}},
		{8, 3, 4, []int{0, 3, 4}},
		{8, 4, 4, []int{0, 14, 0, 0, 0, 1}},
		{9, 2, 6, []int{0, 0, 0, 3}},
		{9, 3, 4, []int{0, 1, 4, 2}},
		{9, 4, 4, []int{0, 6, 8, 0, 0, 1}},
		{9, 5, 3, []int{4, 14, 8, 0, 4, 1}},
		{10, 3, 5, []int{0, 0, 3, 3, 1}},
		{10, 4, 4, []int{0, 2, 8, 4, 0, 1}},
		{10, 5, 4, []int{0, 10, 16, 0, 0, 5}},
		{11, 4, 5, []int{0, 0, 6, 6, 2, 1}},
		{11, 5, 4, []int{0, 4, 14, 8, 0, 3, 2}},
		{11, 6, 4, []int{0, 25, 0, 27, 0, 10, 0, 1}},
		{11, 7, 3, []int{12, 26, 28, 24, 20, 13, 4}},
	} {
		d := design(t, test.factors, test.halvings)
		counted := make([]int, test.factors+1)
		for _, w := range d.Words() {
			counted[w.Order()]++
		}
		want := append(make([]int, 3), test.words...)
		want = append(want, make([]int, test.factors+1-len(want))...)
		if !slices.Equal(counted, want) || d.Resolution() != test.resolution {
			t.Errorf("2^(%d-%d): resolution %d with words %v, want %d with %v", test.factors, test.halvings, d.Resolution(), counted, test.resolution, want)
		}
	}
}

// From resolution IV on, main effects are clear of interactions of two factors; from V on, these are
// clear of each other. All main effects can be told apart in any design.
func TestAliases(t *testing.T) {
	for factors := 3; factors <= fractional.MostFactors; factors++ {
		for halvings := 1; halvings <= fractional.MostHalvings(factors); halvings++ {
			d := design(t, factors, halvings)
			mains, pairs := map[fractional.Effect]bool{}, map[fractional.Effect]bool{}
			clear, apart := true, true
			for i := range factors {
				mains[d.Column(fractional.Of(i))] = true
			}
			for i := range factors {
				for j := range i {
					column := d.Column(fractional.Of(i, j))
					clear, apart = clear && !mains[column], apart && !pairs[column]
					pairs[column] = true
				}
			}
			r := d.Resolution()
			if r < 3 || len(mains) != factors || clear != (r >= 4) || (clear && apart) != (r >= 5) {
				t.Errorf("2^(%d-%d) of resolution %d: %d main effects, clear: %v, pairs apart: %v", factors, halvings, r, len(mains), clear, apart)
			}
		}
	}
}

// In the runs, each factor has both levels equally often, and effects have the same signs exactly if
// they have the same column.
func TestRuns(t *testing.T) {
	d := design(t, 7, 3)
	runs := d.Runs()
	if len(runs) != 16 {
		t.Fatalf("%d runs", len(runs))
	}
	for a := fractional.Effect(1); a < 1<<7; a++ {
		for b := fractional.Effect(1); b < 1<<7; b++ {
			product := 0.0
			for _, run := range runs {
				product += a.Sign(run) * b.Sign(run)
			}
			if same := d.Column(a) == d.Column(b); same != (product == 16) || !same && product != 0 {
				t.Fatalf("effects %b and %b: product %v, same column: %v", a, b, product, same)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, test := range []struct {
		factors, halvings int
		want              string
	}{
		{2, 1, "needs at least 3"},
		{7, 5, "1/32 of the combinations is too few for 7 factors: at least 1/16"},
		{3, 2, "at least 1/2 is needed"},
		{12, 1, "at most 11"},
		{5, 0, "at least one halving"},
	} {
		if _, err := fractional.New(test.factors, test.halvings); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("2^(%d-%d): %v, want %s", test.factors, test.halvings, err, test.want)
		}
	}
}
