package controller_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/internal/tcptest"
)

// tcpPod starts a pod that greets with its name and echoes each line.
func tcpPod(t *testing.T, address, name string) net.Addr {
	t.Helper()
	return tcptest.Serve(t, address+":0", func(conn net.Conn) {
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			fmt.Fprintf(conn, "%s %s\n", name, lines.Text())
		}
	})
}

// udpPod starts a pod that answers each datagram with its name and the content.
func udpPod(t *testing.T, address, name string) net.Addr {
	t.Helper()
	conn, err := net.ListenPacket("udp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			conn.WriteTo(fmt.Appendf(nil, "%s %s", name, buffer[:n]), from)
		}
	}()
	return conn.LocalAddr()
}

// streamService creates a Service with one port, and its EndpointSlice.
func (r *running) streamService(name string, protocol corev1.Protocol, pod net.Addr) {
	r.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.ServiceSpec{
		Ports: []corev1.ServicePort{{Port: 5000, Protocol: protocol}},
	}}
	_, err := r.client.CoreV1().Services("default").Create(r.Context(), service, metav1.CreateOptions{})
	r.must(err)
	_, err = r.client.DiscoveryV1().EndpointSlices("default").Create(r.Context(), streamSlice(name, protocol, pod), metav1.CreateOptions{})
	r.must(err)
}

func (r *running) moveStream(name string, protocol corev1.Protocol, pod net.Addr) {
	r.Helper()
	_, err := r.client.DiscoveryV1().EndpointSlices("default").Update(r.Context(), streamSlice(name, protocol, pod), metav1.UpdateOptions{})
	r.must(err)
}

func streamSlice(name string, protocol corev1.Protocol, pod net.Addr) *discoveryv1.EndpointSlice {
	host, text, _ := net.SplitHostPort(pod.String())
	var number int32
	fmt.Sscan(text, &number)
	unnamed := ""
	return &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{host}}},
		Ports:       []discoveryv1.EndpointPort{{Name: &unnamed, Port: &number, Protocol: &protocol}},
	}
}

// streamPorts creates a ConfigMap of TCP or UDP services.
func (r *running) streamPorts(name string, data map[string]string) {
	r.Helper()
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: data}
	_, err := r.client.CoreV1().ConfigMaps("default").Create(r.Context(), config, metav1.CreateOptions{})
	r.must(err)
}

// awaitReply calls ask until the reply is the wanted one.
func (r *running) awaitReply(network string, port int, send, want string) {
	r.Helper()
	var got string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = ask(network, port, send); got == want {
			return
		}
	}
	log, _ := os.ReadFile(filepath.Join(r.root, "var/log/nginx/error.log"))
	r.Fatalf("%s port %d replies %q, want %q; nginx says\n%s", network, port, got, want, log)
}

// ask sends a text from a new socket and returns the first line of the reply.
func ask(network string, port int, send string) string {
	conn, err := net.Dial(network, fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, send); err != nil {
		return err.Error()
	}
	reply := make([]byte, 1500)
	n, err := conn.Read(reply)
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(reply[:n]), "\n")
	return line
}

func TestTCPService(t *testing.T) {
	t.Parallel()
	nginxtest.Find(t, "stream")
	r := launch(t, true)
	external := nginxtest.FreePorts(t, 1)
	r.streamService("db", corev1.ProtocolTCP, tcpPod(t, "127.88.1.1", "one"))
	r.streamPorts("tcp-services", map[string]string{fmt.Sprint(external): "default/db:5000", "1": "default/nothing:1"})
	r.awaitReply("tcp", external, "hello\n", "one hello")

	// A change of endpoints does not close open connections.
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", external))
	r.must(err)
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	say := func(word string) string {
		fmt.Fprintln(conn, word)
		lines.Scan()
		return lines.Text()
	}
	if got := say("before"); got != "one before" {
		t.Fatalf("got %q", got)
	}
	r.moveStream("db", corev1.ProtocolTCP, tcpPod(t, "127.88.1.2", "two"))
	r.awaitReply("tcp", external, "hello\n", "two hello")
	if got := say("after"); got != "one after" {
		t.Errorf("the open connection replies %q", got)
	}
	conn.Close()
}

func TestUDPService(t *testing.T) {
	t.Parallel()
	nginxtest.Find(t, "stream")
	r := launch(t, true)
	external := nginxtest.FreePorts(t, 1)
	r.streamService("dns", corev1.ProtocolUDP, udpPod(t, "127.88.1.1", "one"))
	r.streamPorts("udp-services", map[string]string{fmt.Sprint(external): "default/dns:5000"})
	r.awaitReply("udp", external, "hello", "one hello")
	r.moveStream("dns", corev1.ProtocolUDP, udpPod(t, "127.88.1.2", "two"))
	r.awaitReply("udp", external, "hello", "two hello")
}

func TestStreamProxyProtocol(t *testing.T) {
	t.Parallel()
	nginxtest.Find(t, "stream")
	r := launch(t, true)
	base, err := port.Free(3)
	r.must(err)
	in, out, both := base, base+1, base+2
	r.streamService("db", corev1.ProtocolTCP, tcpPod(t, "127.88.1.1", "one"))
	r.streamPorts("tcp-services", map[string]string{
		fmt.Sprint(in):   "default/db:5000:PROXY",
		fmt.Sprint(out):  "default/db:5000::PROXY",
		fmt.Sprint(both): "default/db:5000:PROXY:PROXY",
	})
	const header = "PROXY TCP4 192.0.2.7 192.0.2.8 56324 443\r\n"
	r.awaitReply("tcp", in, header+"hello\n", "one hello")
	r.awaitReply("tcp", both, header+"hello\n", "one PROXY TCP4 192.0.2.7 127.0.0.1 56324 "+fmt.Sprint(both))
	if got := ask("tcp", out, "hello\n"); !strings.HasPrefix(got, "one PROXY TCP4 127.0.0.1 127.0.0.1 ") {
		t.Errorf("the pod received %q", got)
	}
	if got := ask("tcp", in, "hello\n"); got != "EOF" && !strings.Contains(got, "reset") {
		t.Errorf("without the header a client gets %q", got)
	}
}
