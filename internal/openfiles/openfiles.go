// Package openfiles counts the file descriptors that this process may open. Its one rule: it is the only
// place that knows how many the parts of a run need.
package openfiles

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"windtunnel.dev/internal/plural"
)

// Others is the number of open files that a run keeps for everything except its pods' sockets: the
// connections of its API servers, clients and probes, those of nginx to the pods, and logs.
const Others = 500

// Limit returns how many files this process may open: the hard limit (RLIMIT_NOFILE), to which the Go
// runtime raises the soft one (package os).
func Limit() (int, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read the limit of open files: %w", err)
	}
	return int(min(limit.Max, math.MaxInt)), nil
}

// Room returns how many sockets of pods the limit has room for.
func Room(limit int) int { return max(limit-Others, 0) }

// Fit returns nil if the limit has room for the given number of sockets for each subject. The error
// shows the arithmetic.
func Fit(subjects, sockets, limit int) error {
	if sockets <= Room(limit)/max(subjects, 1) {
		return nil
	}
	return fmt.Errorf("%s × %s + %d other files = %.10g open files, and the limit is %d",
		plural.Of(subjects, "subject"), plural.Of(sockets, "socket"), Others, float64(subjects)*float64(sockets)+Others, limit)
}
