//go:build race

package attack_test

// raced says that the race detector is on. sync.Pool drops what it is given then, so that
// regexp and encoding/json allocate anew at each call.
const raced = true
