package regress_test

import (
	"slices"
	"testing"
)

// A changed line that no cluster renders is named: the comparison does not show what it does.
func TestChangedLinesThatNoClusterRenders(t *testing.T) {
	base, head := newSide(), newSide()
	base.template += "\ngreen: d\n# a comment"
	head.template = "all: A\nred: b\nblue: c\ngreen: {{ .D }}\n# another comment\n{{/* about\nlines */}}"
	r := run(t, base, head)
	want := []string{"No cluster of the corpus renders these changed lines of the template, so it does not show what they do: nginx.tmpl:4 (green: {{ .D }})."}
	if !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
	head.template = base.template[:len(base.template)-len("green: d\n# a comment")]
	want[0] = "No cluster of the corpus renders these changed lines of the template, so it does not show what they do: nginx.tmpl:4 of base (green: d)."
	if r := run(t, base, head); !slices.Equal(r.Notes, want) {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
}
