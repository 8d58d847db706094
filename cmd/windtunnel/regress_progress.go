package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// stages shows the progress of a comparison or a prediction: on a terminal in one line, elsewhere
// in a line every few seconds.
type stages struct {
	out      io.Writer
	terminal bool
	every    time.Duration

	mu    sync.Mutex
	began time.Time
	last  time.Time
}

func newStages(out io.Writer) *stages {
	now := time.Now()
	s := &stages{out: out, every: 5 * time.Second, began: now, last: now}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		s.terminal, s.every = true, 100*time.Millisecond
	}
	return s
}

// show prints a step, unless it has printed another one recently.
func (s *stages) show(stage string, done, of int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.last) < s.every {
		return
	}
	s.last = now
	line := fmt.Sprintf("%s: %d/%d, %v", stage, done, of, now.Sub(s.began).Truncate(time.Second))
	if s.terminal {
		fmt.Fprint(s.out, "\r\033[K"+line)
	} else {
		fmt.Fprintln(s.out, line)
	}
}

func (s *stages) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.terminal {
		fmt.Fprint(s.out, "\r\033[K")
	}
}
