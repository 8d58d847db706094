package main

import (
	"fmt"
	"io"
	"time"
)

// slow is how long a command may be silent.
const slow = 2 * time.Second

// sayIfSlow prints what a command does, unless done is called soon. Nothing is printed after done.
func sayIfSlow(out io.Writer, what string) (done func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(slow, func() {
		defer close(said)
		fmt.Fprintln(out, what)
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}
