package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"windtunnel.dev/sim/driver/incluster"
)

// forward forwards connections from an address of this machine to a port of a pod, through the API
// server. Unlike `kubectl port-forward`, it goes on after a connection that the pod has refused.
type forward struct {
	address  netip.AddrPort
	listener net.Listener
	port     int
	dialer   httpstream.Dialer

	mu     sync.Mutex
	tunnel httpstream.Connection // nil: there is none
	number int                   // of the next connection
}

// forward begins to forward all ports of nginx.
func (i *instance) forward(context.Context) error {
	ports := []int{httpPort, httpsPort}
	for n := range i.options.Streams {
		ports = append(ports, incluster.StreamBase+n)
	}
	target := i.driver.client.CoreV1().RESTClient().Post().Resource("pods").
		Namespace(i.home.name()).Name(i.current.Load().pod).SubResource("portforward").URL()
	transport, upgrader, err := spdy.RoundTripperFor(i.driver.API)
	if err != nil {
		return err
	}
	for _, port := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		f := &forward{
			address: netip.MustParseAddrPort(listener.Addr().String()), listener: listener, port: port,
			dialer: spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, target),
		}
		i.forwards = append(i.forwards, f)
		go f.serve()
	}
	return nil
}

func (f *forward) serve() {
	for {
		c, err := f.listener.Accept()
		if err != nil {
			return // it was closed
		}
		go func() {
			defer c.Close()
			_ = f.connect(c) // the client sees that its connection ends
		}()
	}
}

// connect carries one connection.
func (f *forward) connect(c net.Conn) error {
	tunnel, number, err := f.open()
	if err != nil {
		return err
	}
	headers := http.Header{}
	headers.Set(corev1.PortHeader, strconv.Itoa(f.port))
	headers.Set(corev1.PortForwardRequestIDHeader, strconv.Itoa(number))
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	failures, err := tunnel.CreateStream(headers)
	if err != nil {
		f.drop(tunnel)
		return err
	}
	failures.Close() // we do not write to it
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := tunnel.CreateStream(headers)
	if err != nil {
		f.drop(tunnel)
		return err
	}
	defer tunnel.RemoveStreams(failures, data)
	refused := make(chan error, 1)
	go func() {
		text, err := io.ReadAll(failures)
		if err == nil && len(text) > 0 {
			err = errors.New(string(text))
		}
		if err != nil {
			c.Close()
		}
		refused <- err
	}()
	go func() {
		_, _ = io.Copy(data, c)
		data.Close() // the pod sees the end
	}()
	_, err = io.Copy(c, data)
	c.Close()
	data.Reset() // what the pod still sends would block the whole tunnel
	return errors.Join(err, <-refused)
}

// open returns the tunnel to the pod, and the number of a new connection in it.
func (f *forward) open() (httpstream.Connection, int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tunnel != nil {
		select {
		case <-f.tunnel.CloseChan():
			f.tunnel = nil
		default:
		}
	}
	if f.tunnel == nil {
		tunnel, protocol, err := f.dialer.Dial(portforward.PortForwardProtocolV1Name)
		if err != nil {
			return nil, 0, err
		}
		if protocol != portforward.PortForwardProtocolV1Name {
			tunnel.Close()
			return nil, 0, fmt.Errorf("the API server forwards ports with the protocol %s only", protocol)
		}
		f.tunnel = tunnel
	}
	f.number++
	return f.tunnel, f.number, nil
}

// drop closes a tunnel that does not work any more.
func (f *forward) drop(tunnel httpstream.Connection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	tunnel.Close()
	if f.tunnel == tunnel {
		f.tunnel = nil
	}
}

func (f *forward) close() {
	f.listener.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tunnel != nil {
		f.tunnel.Close()
	}
}
