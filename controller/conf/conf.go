// Package conf represents the text of nginx.conf. It stands between render, which writes it, and
// plan and apply, which compare it and write it to a file. Its one rule: a text is never modified,
// so texts share common pieces, and shared pieces are never compared byte by byte.
package conf

import (
	"bytes"
	"io"
	"iter"
	"strings"
)

// Text is a configuration as a sequence of pieces, each of which consists of whole lines. The
// division into pieces does not affect the meaning. The zero Text is empty.
type Text struct{ pieces []*Piece }

// Piece is a part of a text. Two pieces with the same address have the same bytes.
type Piece struct{ text []byte }

// NewPiece returns a piece. The caller must not modify text afterwards.
func NewPiece(text []byte) *Piece { return &Piece{text} }

// Of returns a text that consists of the given pieces.
func Of(pieces ...*Piece) Text { return Text{pieces} }

// Whole returns a text that is one piece. The caller must not modify text afterwards.
func Whole(text []byte) Text {
	if len(text) == 0 {
		return Text{}
	}
	return Of(NewPiece(text))
}

// Len returns the length in bytes.
func (t Text) Len() int {
	length := 0
	for _, p := range t.pieces {
		length += len(p.text)
	}
	return length
}

// Bytes returns a copy of the text.
func (t Text) Bytes() []byte {
	all := make([]byte, 0, t.Len())
	for _, p := range t.pieces {
		all = append(all, p.text...)
	}
	return all
}

func (t Text) String() string {
	var all strings.Builder
	all.Grow(t.Len())
	for _, p := range t.pieces {
		all.Write(p.text)
	}
	return all.String()
}

// Append returns the text with more at its end. The caller must not modify more afterwards.
func (t Text) Append(more []byte) Text {
	return Text{append(t.pieces[:len(t.pieces):len(t.pieces)], NewPiece(more))}
}

// WriteTo implements io.WriterTo.
func (t Text) WriteTo(w io.Writer) (int64, error) {
	written := int64(0)
	for _, p := range t.pieces {
		n, err := w.Write(p.text)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Equal reports whether two texts have the same bytes.
func (t Text) Equal(other Text) bool {
	a, b := withoutCommonEnds(t, other)
	return a.Len() == b.Len() && sameBytes(a.pieces, b.pieces)
}

// sameBytes reports whether two sequences of pieces with the same total length have the same bytes.
func sameBytes(a, b []*Piece) bool {
	var x, y []byte // the rest of the current pieces
	for len(a) > 0 || len(x) > 0 {
		if len(x) == 0 {
			x, a = a[0].text, a[1:]
			continue
		}
		if len(y) == 0 {
			y, b = b[0].text, b[1:]
			continue
		}
		n := min(len(x), len(y))
		if !bytes.Equal(x[:n], y[:n]) {
			return false
		}
		x, y = x[n:], y[n:]
	}
	return true
}

// Contains reports whether part occurs within one piece.
func (t Text) Contains(part []byte) bool {
	for _, p := range t.pieces {
		if bytes.Contains(p.text, part) {
			return true
		}
	}
	return false
}

// LinesWith returns the lines that begin with start, without white space around them.
func (t Text) LinesWith(start []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, p := range t.pieces {
			rest := p.text
			for at := bytes.Index(rest, start); at >= 0; at = bytes.Index(rest, start) {
				begin := bytes.LastIndexByte(rest[:at], '\n') + 1
				line, after, _ := bytes.Cut(rest[begin:], []byte("\n"))
				if line = bytes.TrimSpace(line); bytes.HasPrefix(line, start) && !yield(line) {
					return
				}
				rest = after
			}
		}
	}
}

// Differing returns both texts without the pieces that they share.
func Differing(a, b Text) (Text, Text) {
	a, b = withoutCommonEnds(a, b)
	return a.without(b), b.without(a)
}

func withoutCommonEnds(a, b Text) (Text, Text) {
	x, y := a.pieces, b.pieces
	if len(x) == len(y) && len(x) > 0 && &x[0] == &y[0] {
		return Text{}, Text{} // the same text
	}
	for len(x) > 0 && len(y) > 0 && x[0].equal(y[0]) {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1].equal(y[len(y)-1]) {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return Text{x}, Text{y}
}

func (p *Piece) equal(other *Piece) bool { return p == other || bytes.Equal(p.text, other.text) }

// without returns the text without the pieces of other.
func (t Text) without(other Text) Text {
	theirs := make(map[*Piece]bool, len(other.pieces))
	for _, p := range other.pieces {
		theirs[p] = true
	}
	var kept Text
	for _, p := range t.pieces {
		if !theirs[p] {
			kept.pieces = append(kept.pieces, p)
		}
	}
	return kept
}
