package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// listen opens the health port and makes sure that nginx's ports are free, so
// that a port in use is an error here and not a line in nginx's log.
func (f *flags) listen() (net.Listener, error) {
	taken := make(map[int]string)
	for _, port := range []struct {
		flag   string
		number int
	}{
		{"http-port", f.ports.HTTP},
		{"https-port", f.ports.HTTPS},
		{"default-server-port", f.ports.Default},
		{"status-port", f.ports.Status},
		{"healthz-port", f.ports.Health},
	} {
		if other := taken[port.number]; other != "" {
			return nil, fmt.Errorf("--%s %d: --%s has the same port: choose another", port.flag, port.number, other)
		}
		taken[port.number] = port.flag
		if port.flag == "healthz-port" {
			break // we listen there ourselves
		}
		listener, err := listen(port.flag, "", port.number)
		if err != nil {
			return nil, err
		}
		listener.Close()
	}
	return listen("healthz-port", f.healthHost, f.ports.Health)
}

func listen(flag, host string, port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %d: the port is in use: end what listens there, or choose another", flag, port)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--%s %d: the port needs privileges: run with CAP_NET_BIND_SERVICE, or choose one from 1024", flag, port)
	case err != nil:
		return nil, fmt.Errorf("--%s %d: %w", flag, port, err)
	}
	return listener, nil
}
