package wire

import (
	"bytes"
	"slices"
	"strings"
)

// List is a list of backends for Lua. Each is encoded separately, so two lists can be compared
// backend by backend. A nil List means that nothing is sent; an empty List means that there are no
// backends. The backends must not be modified, because lists share them.
type List []*Backend

// Backend is an encoded backend.
type Backend struct {
	Name string
	JSON []byte
}

// Size returns an upper bound for the length of Body, in bytes.
func (l List) Size() int {
	size := 2
	for _, b := range l {
		size += len(b.JSON) + 1
	}
	return size
}

// Body returns the list as a JSON array.
func (l List) Body() []byte {
	body := append(make([]byte, 0, l.Size()), '[')
	for i, b := range l {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, b.JSON...)
	}
	return append(body, ']')
}

// Equal reports whether two lists have the same bytes.
func (l List) Equal(other List) bool {
	return (l == nil) == (other == nil) && slices.EqualFunc(l, other, (*Backend).equal)
}

// Keeping returns the list plus the backends of other whose names it lacks. Both lists are sorted
// by name.
func (l List) Keeping(other List) List {
	have := l.byName()
	kept := slices.Clone(l)
	for _, b := range other {
		if _, ok := have[b.Name]; !ok {
			kept = append(kept, b)
		}
	}
	if len(kept) == len(l) {
		return l
	}
	slices.SortStableFunc(kept, func(a, b *Backend) int { return strings.Compare(a.Name, b.Name) })
	return kept
}

func (b *Backend) equal(other *Backend) bool {
	return b == other || b.Name == other.Name && bytes.Equal(b.JSON, other.JSON)
}

// Change is a change of a backend. Before is nil if the backend is new, After is nil if it is gone.
type Change struct {
	Name          string
	Before, After []byte
}

// Since returns the changes from the list before to this one: first the changes of backends in this
// list, in its order, then the backends that are gone.
func (l List) Since(before List) []Change {
	l, before = differing(l, before)
	old, now := before.byName(), l.byName()
	var changes []Change
	for _, b := range l {
		if text := old[b.Name]; !bytes.Equal(text, b.JSON) {
			changes = append(changes, Change{b.Name, text, b.JSON})
		}
	}
	for _, b := range before {
		if _, still := now[b.Name]; !still {
			changes = append(changes, Change{Name: b.Name, Before: b.JSON})
		}
	}
	return changes
}

// differing removes the common beginning and the common end of two lists, because lists are long
// and most changes are small.
func differing(a, b List) (List, List) {
	for len(a) > 0 && len(b) > 0 && a[0].equal(b[0]) {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].equal(b[len(b)-1]) {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

func (l List) byName() map[string][]byte {
	named := make(map[string][]byte, len(l))
	for _, b := range l {
		named[b.Name] = b.JSON
	}
	return named
}
