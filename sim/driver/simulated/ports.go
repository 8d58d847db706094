package simulated

import (
	"fmt"
	"strconv"

	"windtunnel.dev/internal/port"
)

// portFlags are the controller's flags that name a port it, or its nginx,
// listens on.
var portFlags = []string{"http-port", "https-port", "default-server-port", "status-port", "stream-port", "healthz-port"}

// choosePorts gives each port flag a free port: base, base+1 … in the order of
// portFlags, or any when base is 0.
func choosePorts(base int) (map[string]string, error) {
	if base == 0 {
		var err error
		if base, err = port.Free(len(portFlags)); err != nil {
			return nil, err
		}
	} else if busy, err := port.InUse(base, len(portFlags)); err != nil {
		return nil, fmt.Errorf("port %d, wanted for --%s, is in use: %w; end what listens there or choose another --port-base", busy, portFlags[busy-base], err)
	}
	ports := make(map[string]string, len(portFlags))
	for i, flag := range portFlags {
		ports[flag] = strconv.Itoa(base + i)
	}
	return ports, nil
}
