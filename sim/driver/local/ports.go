package local

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// portFlags are the controller's flags that name a port it, or its nginx,
// listens on.
var portFlags = []string{"http-port", "https-port", "default-server-port", "status-port", "stream-port", "healthz-port"}

// Blocks of free ports are looked for here: below the kernel's ephemeral ports
// (net.ipv4.ip_local_port_range), any of which may become the near end of a
// connection before its listener comes.
const (
	lowestPort  = 15000
	highestPort = 32000
	attempts    = 100
)

// choosePorts gives each port flag a free port of the loopback interface:
// base, base+1 … in the order of portFlags, or a free block when base is 0.
func choosePorts(base int) (map[string]string, error) {
	if base != 0 {
		return portsFrom(base)
	}
	var err error
	for range attempts {
		var ports map[string]string
		if ports, err = portsFrom(lowestPort + rand.IntN(highestPort-lowestPort)); err == nil {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("no block of %d free ports between %d and %d: %w", len(portFlags), lowestPort, highestPort, err)
}

func portsFrom(base int) (map[string]string, error) {
	ports := make(map[string]string, len(portFlags))
	for i, flag := range portFlags {
		port := strconv.Itoa(base + i)
		// As the controller does: on all addresses.
		listener, err := net.Listen("tcp", ":"+port)
		if err != nil {
			return nil, fmt.Errorf("port %s, wanted for --%s, is in use: %w; end what listens there or choose another --port-base", port, flag, err)
		}
		listener.Close()
		ports[flag] = port
	}
	return ports, nil
}
