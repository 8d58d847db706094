package simulated

import (
	"fmt"
	"strconv"

	"windtunnel.dev/internal/port"
)

// portFlags are the flags for the ports on which the controller and its nginx listen.
var portFlags = []string{"http-port", "https-port", "default-server-port", "status-port", "stream-port", "healthz-port"}

// choosePorts returns a free port for each port flag: base, base+1 … in the order of portFlags, or
// any free ports if base is 0.
func choosePorts(base int) (map[string]string, error) {
	if base == 0 {
		var err error
		if base, err = port.Free(len(portFlags)); err != nil {
			return nil, err
		}
	} else if busy, err := port.InUse(base, len(portFlags)); err != nil {
		return nil, fmt.Errorf("port %d, wanted for --%s, is in use: %w; stop the program that listens there, or choose another --port-base", busy, portFlags[busy-base], err)
	}
	ports := make(map[string]string, len(portFlags))
	for i, flag := range portFlags {
		ports[flag] = strconv.Itoa(base + i)
	}
	return ports, nil
}
