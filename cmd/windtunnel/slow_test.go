package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

// Only slow work is announced.
func TestSayIfSlow(t *testing.T) {
	for took, want := range map[time.Duration]string{slow / 2: "", slow + 1: "reading\n"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			said := sayIfSlow(&out, "reading")
			time.Sleep(took)
			said()
			if out.String() != want {
				t.Errorf("after %v: %q, want %q", took, &out, want)
			}
		})
	}
}
