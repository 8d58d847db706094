// Package inplace compares large structs without copying them to the heap, as reflect.DeepEqual of
// two values would. It stands between the stages of a compilation and their options, which each
// sync compares several times. Its one rule: a comparison changes neither value.
package inplace

import (
	"bytes"
	"reflect"
	"unsafe"
)

// Comparer compares values of one type. The zero Comparer is ready to use.
type Comparer[T any] struct {
	value T // space for the compared value
}

// Equal reports whether value and *other are byte copies of each other, or deeply equal
// (reflect.DeepEqual). It compares copies without reflection, which is much faster.
func (c *Comparer[T]) Equal(value T, other *T) bool {
	c.value = value
	return bytes.Equal(memory(&c.value), memory(other)) || reflect.DeepEqual(&c.value, other)
}

// memory returns the bytes of the value itself, without the data that its pointers refer to. Values
// with the same bytes refer to the same strings, slices and maps.
func memory[T any](value *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(value)), unsafe.Sizeof(*value))
}
