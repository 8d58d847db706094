package conf_test

import (
	"fmt"
	"slices"
	"testing"

	"windtunnel.dev/controller/conf"
)

func texts(all ...string) []*conf.Piece {
	var pieces []*conf.Piece
	for _, text := range all {
		pieces = append(pieces, conf.NewPiece([]byte(text)))
	}
	return pieces
}

func TestEqualComparesBytesNotPieces(t *testing.T) {
	p := texts("a;\n", "b;\n", "c;\n")
	whole := conf.Whole([]byte("a;\nb;\nc;\n"))
	for _, test := range []struct {
		a, b conf.Text
		want bool
	}{
		{conf.Of(p...), conf.Of(p...), true},
		{conf.Of(p...), conf.Of(texts("a;\n", "b;\n", "c;\n")...), true},
		{conf.Of(p...), whole, true},
		{whole, conf.Of(p...), true},
		{conf.Of(p...), conf.Of(texts("a;\nb;\n", "", "c;\n", "")...), true},
		{conf.Of(p...), conf.Of(texts("a;\nb;\n", "d;\n")...), false},
		{conf.Of(p...), conf.Of(p[0], p[2], p[1]), false},
		{conf.Of(p...), conf.Of(p[:2]...), false},
		{conf.Of(p[0], p[0]), conf.Of(p[0]), false},
		{conf.Text{}, conf.Whole(nil), true},
		{conf.Text{}, whole, false},
	} {
		if got := test.a.Equal(test.b); got != test.want {
			t.Errorf("%q and %q: %t", test.a, test.b, got)
		}
	}
}

func TestDifferingKeepsOrder(t *testing.T) {
	p := texts("top\n", "a\n", "b\n", "c\n", "d\n", "bottom\n")
	changed := conf.NewPiece([]byte("changed\n"))
	before, after := conf.Differing(conf.Of(p...), conf.Of(p[0], p[1], changed, p[3], p[5]))
	if got := fmt.Sprintf("%q %q", before, after); got != `"b\nd\n" "changed\n"` {
		t.Error(got)
	}
	before, after = conf.Differing(conf.Of(p[0], p[1], p[2]), conf.Of(p[0], p[2], p[1]))
	if before.Len()+after.Len() > 0 {
		t.Errorf("texts with the same pieces in another order differ in %q and %q", before, after)
	}
}

func TestTextConcatenatesItsPieces(t *testing.T) {
	text := conf.Of(texts("a;\n", "b;\n")...)
	if text.String() != "a;\nb;\n" || text.Len() != 6 || !text.Contains([]byte("b;")) || text.Contains([]byte("c")) {
		t.Errorf("text %q of length %d", text, text.Len())
	}
}

func TestLinesWith(t *testing.T) {
	text := conf.Of(texts("# dict a 1;\n\tnone;\n", "http {\n\t  dict a 2;\t\n\tdict a 3;\n}\n")...)
	for start, want := range map[string]string{"dict a ": `["dict a 2;" "dict a 3;"]`, "dict b ": "[]"} {
		if got := fmt.Sprintf("%q", slices.Collect(text.LinesWith([]byte(start)))); got != want {
			t.Errorf("%s: %s, want %s", start, got, want)
		}
	}
}
