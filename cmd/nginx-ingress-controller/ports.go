package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// listeners are the controller's own listeners. All except health may be nil.
type listeners struct {
	health   net.Listener
	profiler net.Listener
	requests net.Listener // records of requests, from nginx
	webhook  net.Listener
}

func (l *listeners) close() {
	for _, listener := range []net.Listener{l.health, l.profiler, l.requests, l.webhook} {
		if listener != nil {
			listener.Close()
		}
	}
}

// tcpPort is the port of a flag. If the controller itself listens on it, ours is the field for the
// listener. If ours is nil, nginx listens, and the controller only checks that the port is free.
type tcpPort struct {
	flag   string
	host   string
	number int
	ours   *net.Listener
}

func (f *flags) tcpPorts(l *listeners) []tcpPort {
	all := []tcpPort{
		{flag: "http-port", number: f.ports.HTTP},
		{flag: "https-port", number: f.ports.HTTPS},
		{flag: "default-server-port", number: f.ports.Default},
		{flag: "status-port", number: f.ports.Status},
		{flag: "stream-port", number: f.ports.Stream},
		{flag: "healthz-port", host: f.healthHost, number: f.ports.Health, ours: &l.health},
	}
	if f.tls.passthrough {
		all = append(all, tcpPort{flag: "ssl-passthrough-proxy-port", number: f.ports.SSLProxy})
	}
	if f.profiling {
		all = append(all, tcpPort{flag: "profiler-port", host: f.profilerHost, number: f.ports.Profiler, ours: &l.profiler})
	}
	return all
}

// listen opens the controller's own ports and checks that nginx's are free, so a port in use is an
// error here and not only a line in nginx's log.
func (f *flags) listen(root string) (_ *listeners, err error) {
	l := new(listeners)
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	taken := make(map[int]string)
	for _, port := range f.tcpPorts(l) {
		if other := taken[port.number]; other != "" {
			return nil, fmt.Errorf("--%s %d: --%s uses the same port: choose another", port.flag, port.number, other)
		}
		taken[port.number] = port.flag
		listener, err := listen(port.flag, port.host, port.number)
		if err != nil {
			return nil, err
		}
		if port.ours == nil {
			listener.Close()
		} else {
			*port.ours = listener
		}
	}
	if l.webhook, err = f.admission.listen(); err != nil {
		return nil, err
	}
	if l.webhook != nil {
		if other := taken[l.webhook.Addr().(*net.TCPAddr).Port]; other != "" {
			return nil, fmt.Errorf("--validating-webhook %s: --%s uses the same port: choose another", f.admission.address, other)
		}
	}
	if l.requests, err = f.metrics.listen(root); err != nil {
		return nil, err
	}
	return l, nil
}

func listen(flag, host string, port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--%s %d: the port is in use: stop the process that listens there, or choose another port", flag, port)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--%s %d: the port needs privileges: run with CAP_NET_BIND_SERVICE, or choose a port from 1024", flag, port)
	case err != nil:
		return nil, fmt.Errorf("--%s %d: %w", flag, port, err)
	}
	return listener, nil
}
