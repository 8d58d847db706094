// Package inplace compares large structs without copying them to the heap, as reflect.DeepEqual of two
// values would. It stands between the stages of a compilation and their options, which each sync
// compares several times. Its one rule: a comparison changes neither value.
package inplace

import "reflect"

// Comparer compares values of one type. The zero Comparer is ready to use.
type Comparer[T any] struct {
	value T // room for the value that is compared
}

// Equal reports whether value and the value at other are deeply equal (reflect.DeepEqual).
func (c *Comparer[T]) Equal(value T, other *T) bool {
	c.value = value
	return reflect.DeepEqual(&c.value, other)
}
