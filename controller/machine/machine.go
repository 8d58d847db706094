// Package machine reads properties of the machine or container that the controller runs in. It
// stands between /proc, /sys and /etc, and the Input of a compilation. Its one rule: a property
// that cannot be read gets the value that nginx or ingress-nginx would assume, and is never an
// error.
package machine

import (
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// HasIPv6 reports whether this machine can listen on IPv6.
func HasIPv6() bool {
	listener, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

// Nameservers returns the addresses in a resolv.conf(5); none if the file cannot be read.
func Nameservers(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "nameserver" {
			found = append(found, fields[1])
		}
	}
	return found
}

// Backlog returns the kernel's limit on the length of a listen queue, read from a file such as
// /proc/sys/net/core/somaxconn. Like in ingress-nginx, it is at least 511, nginx's own default.
func Backlog(path string) int {
	const least = 511
	text, err := os.ReadFile(path)
	if err != nil {
		return least
	}
	bound, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return least
	}
	return max(least, bound)
}

// FileLimit returns how many files a process may have open (the hard RLIMIT_NOFILE); 0 if unknown.
func FileLimit() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Max, 1<<31-1))
}
