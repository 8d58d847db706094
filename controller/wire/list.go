package wire

import (
	"bytes"
	"slices"
	"strings"

	"windtunnel.dev/controller/internal/blocks"
)

// List is a list of backends for Lua. Each is encoded separately, so two lists can be compared
// backend by backend. The zero List means that nothing is sent; a List from NewList is sent even if
// it is empty. The backends must not be modified, because lists share them.
type List struct {
	all  blocks.List[*Backend]
	sent bool
	size int // of all JSON texts
}

// NewList returns a list of backends, sorted by name.
func NewList(backends ...*Backend) List { return listOf(blocks.Of(backends)) }

func listOf(all blocks.List[*Backend]) List {
	l := List{all: all, sent: true}
	for b := range all.All() {
		l.size += len(b.JSON)
	}
	return l
}

// Backend is an encoded backend.
type Backend struct {
	Name string
	JSON []byte
}

// IsSent reports whether the list is sent.
func (l List) IsSent() bool { return l.sent }

// Len returns the number of backends.
func (l List) Len() int { return l.all.Len() }

// Size returns an upper bound for the length of Body, in bytes.
func (l List) Size() int { return 2 + l.size + l.all.Len() }

// Body returns the list as a JSON array.
func (l List) Body() []byte {
	body := append(make([]byte, 0, l.Size()), '[')
	for b := range l.all.All() {
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = append(body, b.JSON...)
	}
	return append(body, ']')
}

// Equal reports whether two lists have the same bytes.
func (l List) Equal(other List) bool {
	if l.sent != other.sent || l.Len() != other.Len() {
		return false
	}
	x, y := blocks.Differing(l.all, other.all)
	return slices.EqualFunc(x, y, (*Backend).equal)
}

// Keeping returns the list plus the backends of other whose names it lacks. If there are any, the
// result is sorted by name.
func (l List) Keeping(other List) List {
	mine, theirs := blocks.Differing(l.all, other.all)
	have := byName(mine)
	var missing []*Backend
	for _, b := range theirs {
		if _, ok := have[b.Name]; !ok {
			missing = append(missing, b)
		}
	}
	if len(missing) == 0 {
		return l
	}
	kept := append(l.all.Slice(), missing...)
	slices.SortStableFunc(kept, func(a, b *Backend) int { return strings.Compare(a.Name, b.Name) })
	return NewList(kept...)
}

func (b *Backend) equal(other *Backend) bool {
	return b == other || b.Name == other.Name && bytes.Equal(b.JSON, other.JSON)
}

// Change is a change of a backend. Before is nil if the backend is new, After is nil if it is gone.
type Change struct {
	Name          string
	Before, After []byte
}

// Since returns the changes since the list before: first new and changed backends, in the order of
// this list, then removed backends.
func (l List) Since(before List) []Change {
	mine, theirs := blocks.Differing(l.all, before.all)
	old, now := byName(theirs), byName(mine)
	var changes []Change
	for _, b := range mine {
		if text := old[b.Name]; !bytes.Equal(text, b.JSON) {
			changes = append(changes, Change{b.Name, text, b.JSON})
		}
	}
	for _, b := range theirs {
		if _, still := now[b.Name]; !still {
			changes = append(changes, Change{Name: b.Name, Before: b.JSON})
		}
	}
	return changes
}

func byName(list []*Backend) map[string][]byte {
	named := make(map[string][]byte, len(list))
	for _, b := range list {
		named[b.Name] = b.JSON
	}
	return named
}
