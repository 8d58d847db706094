// Package port finds free TCP ports for processes that will listen on them
// later. It stands between those who start such processes and the kernel. Its
// one rule: never a port that the kernel may meanwhile give to the near end of
// a connection, nor one that it has just given to somebody else.
package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Free ports lie in this range: below Linux's ephemeral ports
// (net.ipv4.ip_local_port_range, from 32768 unless changed), above most services.
const (
	lowest   = 15000
	highest  = 32000
	attempts = 100
)

// next is where the search begins: behind what this process was given last, so
// that who has not listened yet keeps their ports.
var next = struct {
	sync.Mutex
	port int
}{port: lowest + rand.IntN(highest-lowest)}

// Free returns n free ports in a row: the first of them. A process is given
// others each time, until it has had them all.
func Free(n int) (int, error) {
	next.Lock()
	defer next.Unlock()
	var err error
	for range attempts {
		base := next.port
		if base+n > highest {
			base = lowest
		}
		next.port = base + n
		if _, err = InUse(base, n); err == nil {
			return base, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row between %d and %d: %w", n, lowest, highest, err)
}

// InUse returns the first of the n ports from base that somebody listens on,
// on any address, with the reason as an error.
func InUse(base, n int) (int, error) {
	for port := base; port < base+n; port++ {
		listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			return port, err
		}
		listener.Close()
	}
	return 0, nil
}
