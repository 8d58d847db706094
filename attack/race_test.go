//go:build race

package attack_test

// raced reports whether the race detector is on. sync.Pool then drops objects, so regexp and
// encoding/json allocate at each call.
const raced = true
