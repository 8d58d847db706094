// Package port finds free TCP ports for processes that will listen on them later. Its one rule: it
// returns neither ephemeral ports, which the kernel may assign to an outgoing connection in the
// meantime, nor ports that it has returned recently, in this process or in another one.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// The range of the ports: below Linux's ephemeral ports (net.ipv4.ip_local_port_range, from 32768
// by default), above the ports of most services.
const (
	lowest  = 15000
	highest = 32000
)

// next is the port at which the next search begins: after the ports returned last, because their
// users may not listen yet.
var next = struct {
	sync.Mutex
	port int
	claims
}{port: lowest + rand.IntN(highest-lowest)}

// Free finds n consecutive free ports and returns the first. Each call in a process returns other
// ports, until the whole range has been used.
func Free(n int) (int, error) {
	next.Lock()
	defer next.Unlock()
	var err error
	for searched := 0; searched < highest-lowest; searched += n {
		base := next.port
		if base+n > highest {
			base = lowest
		}
		next.port = base + n
		if !next.take(base, n) {
			err = fmt.Errorf("another process has just found one of the ports %d to %d", base, base+n-1)
		} else if _, err = InUse(base, n); err == nil {
			return base, nil
		}
	}
	return 0, fmt.Errorf("no %d consecutive free ports between %d and %d: %w", n, lowest, highest, err)
}

// InUse tries to listen on the n ports from base, on all addresses. It returns the first port that
// fails, with the error; 0 and nil if all are free. No process may be forked meanwhile: it would keep
// a copy of the socket until it executes its program, and the port would be in use for that long.
func InUse(base, n int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	for port := base; port < base+n; port++ {
		listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			return port, err
		}
		listener.Close()
	}
	return 0, nil
}
