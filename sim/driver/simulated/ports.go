package simulated

import (
	"fmt"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/adapter"
)

// choosePorts returns free ports for the controller and its proxy: those from base, or any if base is 0.
func choosePorts(base int) (adapter.Ports, error) {
	if base == 0 {
		var err error
		if base, err = port.Free(adapter.PortCount); err != nil {
			return adapter.Ports{}, err
		}
	} else if busy, err := port.InUse(base, adapter.PortCount); err != nil {
		return adapter.Ports{}, fmt.Errorf("port %d, one of the %d from %d that a subject needs, is in use: %w; stop the program that listens there, or choose another --port-base", busy, adapter.PortCount, base, err)
	}
	return adapter.PortsFrom(base), nil
}
