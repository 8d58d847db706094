// Package blocks provides lists with many elements, few of which change. Its one rule: a list is
// never modified. A copy with one different element shares all blocks but one, and a comparison of
// two such lists skips the shared blocks.
package blocks

import (
	"iter"
	"slices"
)

// size is the number of elements in each block but the last.
const size = 128

// List is a list of elements. The zero value is empty.
type List[T comparable] struct {
	blocks []*[size]T
	length int
}

// Of returns a list of the given elements.
func Of[T comparable](all []T) List[T] {
	list := List[T]{length: len(all), blocks: make([]*[size]T, 0, (len(all)+size-1)/size)}
	for some := range slices.Chunk(all, size) {
		block := new([size]T)
		copy(block[:], some)
		list.blocks = append(list.blocks, block)
	}
	return list
}

// block returns the elements of a block; none if the list has fewer blocks.
func (l List[T]) block(b int) []T {
	if b >= len(l.blocks) {
		return nil
	}
	return l.blocks[b][:min(size, l.length-b*size)]
}

// Len returns the number of elements.
func (l List[T]) Len() int { return l.length }

// At returns an element.
func (l List[T]) At(i int) T { return l.blocks[i/size][i%size] }

// All yields the elements in order.
func (l List[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for b := range l.blocks {
			for _, element := range l.block(b) {
				if !yield(element) {
					return
				}
			}
		}
	}
}

// Slice returns a copy of the elements.
func (l List[T]) Slice() []T {
	all := make([]T, 0, l.length)
	for b := range l.blocks {
		all = append(all, l.block(b)...)
	}
	return all
}

// With returns a copy of the list with another element at i.
func (l List[T]) With(i int, element T) List[T] {
	l.blocks = slices.Clone(l.blocks)
	block := *l.blocks[i/size]
	block[i%size] = element
	l.blocks[i/size] = &block
	return l
}

// Memo maps a sequence of lists, and calls the function only for elements that the previous list
// did not have. The zero value is ready to use.
type Memo[T, U comparable] struct {
	from List[T]
	to   List[U]
}

// fewMoved is the number of elements up to which Map looks for an element only at its own index.
// Beyond it, Map looks in the whole list.
const fewMoved = 16

// Map returns the list of the function's results for each element. On an error, the Memo stays
// unchanged.
func (m *Memo[T, U]) Map(from List[T], do func(T) (U, error)) (List[U], error) {
	to := List[U]{length: from.length, blocks: make([]*[size]U, len(from.blocks))}
	moved := 0
	var known map[T]U
	for b := range from.blocks {
		block, had := from.block(b), m.from.block(b)
		if same(block, had) {
			to.blocks[b] = m.to.blocks[b]
			continue
		}
		to.blocks[b] = new([size]U)
		for i, element := range block {
			if i < len(had) && had[i] == element {
				to.blocks[b][i] = m.to.blocks[b][i]
				continue
			}
			if moved++; moved == fewMoved {
				known = m.known()
			}
			mapped, ok := known[element]
			if !ok {
				var err error
				if mapped, err = do(element); err != nil {
					return List[U]{}, err
				}
			}
			to.blocks[b][i] = mapped
		}
	}
	m.from, m.to = from, to
	return to, nil
}

func (m *Memo[T, U]) known() map[T]U {
	known := make(map[T]U, m.from.length)
	for b := range m.from.blocks {
		for i, element := range m.from.block(b) {
			known[element] = m.to.blocks[b][i]
		}
	}
	return known
}

// Differing returns the elements of two lists without their common beginning and end, and without
// the blocks that they share at the same index. The results may share memory with the lists and
// must not be modified.
func Differing[T comparable](x, y List[T]) (onlyX, onlyY []T) {
	for b := range max(len(x.blocks), len(y.blocks)) {
		if ofX, ofY := x.block(b), y.block(b); !same(ofX, ofY) {
			onlyX, onlyY = join(onlyX, ofX), join(onlyY, ofY)
		}
	}
	for len(onlyX) > 0 && len(onlyY) > 0 && onlyX[0] == onlyY[0] {
		onlyX, onlyY = onlyX[1:], onlyY[1:]
	}
	for len(onlyX) > 0 && len(onlyY) > 0 && onlyX[len(onlyX)-1] == onlyY[len(onlyY)-1] {
		onlyX, onlyY = onlyX[:len(onlyX)-1], onlyY[:len(onlyY)-1]
	}
	return onlyX, onlyY
}

// join returns x followed by y. It copies only if both have elements.
func join[T any](x, y []T) []T {
	if len(x) == 0 {
		return slices.Clip(y)
	}
	return append(x, y...)
}

// same reports whether two blocks are the same memory.
func same[T any](x, y []T) bool {
	return len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
}
