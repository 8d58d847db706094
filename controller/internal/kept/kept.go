// Package kept compares a value with the last one. It stands between the stages of a compilation and
// their large options. Its one rule: a comparison allocates nothing, because each sync makes several.
package kept

import "reflect"

// Value keeps a value. The zero Value keeps the zero value of T.
type Value[T any] struct {
	last, other T // other is compared in place
}

// Keep replaces the value.
func (v *Value[T]) Keep(value T) { v.last = value }

// Equals reports whether the kept value and another one are deeply equal (reflect.DeepEqual).
func (v *Value[T]) Equals(value T) bool {
	v.other = value
	return reflect.DeepEqual(&v.other, &v.last)
}
