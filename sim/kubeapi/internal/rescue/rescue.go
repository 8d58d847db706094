// Package rescue calls libraries that panic on some invalid input. It stands between them and the
// request with that input. Its one rule: a panic becomes an error that keeps the stack for the log.
package rescue

import (
	"fmt"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Panic is the error for a library that panicked.
type Panic struct {
	apierrors.APIStatus // the answer for the client
	Reason              any
	Stack               []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Reason) }

// Call calls a library that panics on some invalid input, and turns a panic into an error. The
// client gets refusal.
func Call[T any](refusal apierrors.APIStatus, call func() (T, error)) (result T, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = &Panic{refusal, reason, debug.Stack()}
		}
	}()
	return call()
}
