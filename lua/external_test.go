package lua_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// nameserver is a DNS server whose answers a test can change. A name without an entry does not
// exist; a name whose entry is nil gets no answer.
type nameserver struct {
	net.PacketConn
	sync.Mutex
	names map[string][]string // addresses by name
	asked map[string]int
	cut   bool // truncate answers over UDP: the client must use TCP
}

func serveNames(t *testing.T) *nameserver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.88.250.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	n := &nameserver{PacketConn: conn, names: map[string][]string{}, asked: map[string]int{}}
	listener, err := net.Listen("tcp", conn.LocalAddr().String())
	if err != nil {
		t.Skip("the port is in use for TCP: ", err)
	}
	t.Cleanup(func() { listener.Close() })
	go n.serveTCP(listener)
	go func() {
		for message := make([]byte, 512); ; {
			size, from, err := conn.ReadFrom(message)
			if err != nil {
				return
			}
			if answer := n.answer(message[:size]); answer != nil {
				if n.cut {
					answer[2] |= 2
					answer = answer[:12]
				}
				if _, err := conn.WriteTo(answer, from); err != nil {
					return
				}
			}
		}
	}()
	return n
}

func (n *nameserver) serveTCP(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		message := make([]byte, 514)
		if size, err := conn.Read(message); err == nil && size > 2 {
			answer := n.answer(message[2:size])
			_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
		}
		conn.Close()
	}
}

func (n *nameserver) set(name string, addresses ...string) {
	n.Lock()
	defer n.Unlock()
	n.names[name] = addresses
}

func (n *nameserver) timesAsked(name string) int {
	n.Lock()
	defer n.Unlock()
	return n.asked[name]
}

// answer encodes an answer with TTL 0 and a compressed name.
func (n *nameserver) answer(question []byte) []byte {
	n.Lock()
	defer n.Unlock()
	var labels []string
	at := 12
	for question[at] != 0 {
		size := int(question[at])
		labels = append(labels, string(question[at+1:at+1+size]))
		at += 1 + size
	}
	end := at + 5
	name, qtype := strings.Join(labels, "."), binary.BigEndian.Uint16(question[at+1:])
	n.asked[name]++
	addresses, known := n.names[name]
	if known && addresses == nil {
		return nil
	}
	out := append([]byte{question[0], question[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question[12:end]...)
	if !known {
		out[3] |= 3
	}
	for _, address := range addresses {
		ip := net.ParseIP(address)
		data := ip.To4()
		kind := uint16(1)
		if data == nil {
			data, kind = ip.To16(), 28
		}
		if kind != qtype {
			continue
		}
		out[7]++
		out = append(out, 0xc0, 12)
		out = binary.BigEndian.AppendUint16(out, kind)
		out = append(out, 0, 1, 0, 0, 0, 0)
		out = binary.BigEndian.AppendUint16(out, uint16(len(data)))
		out = append(out, data...)
	}
	return out
}

// asNameserver returns a replacement of the resolv.conf module that names this server.
func (n *nameserver) asNameserver(search ...string) map[string]string {
	host, port, _ := net.SplitHostPort(n.LocalAddr().String())
	var quoted []string
	for _, domain := range search {
		quoted = append(quoted, fmt.Sprintf("%q", domain))
	}
	return map[string]string{"util/resolv_conf.lua": fmt.Sprintf(
		"return { nameservers = { { %q, %s } }, search = { %s }, ndots = 2 }\n", host, port, strings.Join(quoted, ", "))}
}

var externalName = map[string]any{"spec": map[string]any{"type": "ExternalName"}}

func TestExternalNameFollowsDNS(t *testing.T) {
	names := serveNames(t)
	s := start(t, setup{Workers: 1, Replace: names.asNameserver("svc.local")})
	s.expectLog("failed to query the DNS server for")
	s.expectLog("lua udp socket read timed out")
	s.expectLog("error while setting current upstream peer")
	s.expectLog("no live upstreams")
	endpoints := samePort(t, 3)
	port := endpoints[0].Port
	names.set("db.example.com", endpoints[0].Address, endpoints[1].Address)
	names.set("short.svc.local", endpoints[2].Address)
	names.set("silent.example.com") // it never gets an answer, and must not delay the others
	workers := s.serve(
		backend{Name: "silent", Service: externalName, Endpoints: []endpoint{{"silent.example.com", port}}},
		backend{Name: "shop", Service: externalName, Endpoints: []endpoint{{"db.example.com", port}}},
		backend{Name: "short", Service: externalName, Endpoints: []endpoint{{"short", port}}},
		backend{Name: "absolute", Service: externalName, Endpoints: []endpoint{{"db.example.com.", port}}},
		backend{Name: "portless", Service: externalName, Endpoints: []endpoint{{"db.example.com", "0"}}},
		backend{Name: "literal", Service: externalName, Endpoints: []endpoint{{endpoints[0].Address, port}}})
	w := workers[0]
	answers := func(upstream string, pods ...endpoint) {
		t.Helper()
		s.nginx.Await(upstream+" answered by "+fmt.Sprint(pods), func() bool {
			seen := map[string]bool{}
			for range 2 * len(pods) {
				got := w.get("X-Upstream", upstream)
				if got.status == http.StatusOK {
					seen[got.pod] = true
				}
			}
			for _, pod := range pods {
				if !seen[pod.String()] {
					return false
				}
			}
			return len(seen) == len(pods)
		})
	}
	answers("shop", endpoints[:2]...)
	answers("short", endpoints[2])
	answers("absolute", endpoints[:2]...)
	for upstream, want := range map[string]int{"silent": 503, "literal": 503, "portless": 502} {
		if got := w.get("X-Upstream", upstream); got.status != want {
			t.Errorf("%s: status %d, want %d", upstream, got.status, want)
		}
	}

	// A new answer changes the endpoints without a POST.
	names.set("db.example.com", endpoints[2].Address)
	answers("shop", endpoints[2])

	// A name that no longer exists has no endpoints, until it exists again.
	names.Lock()
	delete(names.names, "db.example.com")
	names.Unlock()
	s.nginx.Await("503", func() bool { return w.get("X-Upstream", "shop").status == http.StatusServiceUnavailable })
	names.set("db.example.com", endpoints[0].Address)
	answers("shop", endpoints[0])
	if n := names.timesAsked("db.example.com.svc.local"); n == 0 {
		t.Error("a name that does not exist was not tried with the search list")
	}
	names.set("silent.example.com", endpoints[0].Address) // so that nginx need not wait for the query when it quits
	answers("silent", endpoints[0])

	// A backend that is no longer an external name uses its own endpoints.
	s.awaitMark(workers, s.post(backend{Name: "shop", Endpoints: endpoints[1:2]}))
	answers("shop", endpoints[1])
	if got := w.get("X-Upstream", "short"); got.status != http.StatusServiceUnavailable {
		t.Errorf("a removed external name: status %d", got.status)
	}
}

// A service with a new name does not wait for the answer to a query for the old one.
func TestACorrectedExternalNameIsResolvedAtOnce(t *testing.T) {
	names := serveNames(t)
	e := pods(t, 1)[0]
	names.set("silent.example.com")
	names.set("silent.example.com.silent.local")
	names.set("db.example.com", e.Address)
	s := start(t, setup{Workers: 1, Replace: names.asNameserver("silent.local")})
	s.expectLog("lua udp socket read timed out")
	w := s.serve(backend{Name: "shop", Service: externalName, Endpoints: []endpoint{{"silent.example.com", e.Port}}})[0]
	s.nginx.Await("a query", func() bool { return names.timesAsked("silent.example.com") > 0 })
	s.post(backend{Name: "shop", Service: externalName, Endpoints: []endpoint{{"db.example.com", e.Port}}})
	s.nginx.Await("the pod", func() bool { return w.get("X-Upstream", "shop").pod == e.String() })
	names.set("silent.example.com", e.Address) // nginx waits for the query when it quits
}

func TestTruncatedAnswersAreRetriedOverTCP(t *testing.T) {
	names := serveNames(t)
	names.cut = true
	e := pods(t, 1)[0]
	names.set("big.example.com", e.Address)
	s := start(t, setup{Workers: 1, Replace: names.asNameserver()})
	w := s.serve(backend{Name: "shop", Service: externalName, Endpoints: []endpoint{{"big.example.com", e.Port}}})[0]
	s.nginx.Await("the pod", func() bool { return w.get("X-Upstream", "shop").pod == e.String() })
}

func TestExternalNameWithIPv6(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("needs IPv6 loopback: ", err)
	}
	names := serveNames(t)
	names.set("six.example.com", "::1")
	s := start(t, setup{Workers: 1, Replace: names.asNameserver()})
	e := servePod(t, listener)
	w := s.serve(backend{Name: "shop", Service: externalName, Endpoints: []endpoint{{"six.example.com", e.Port}}})[0]
	s.nginx.Await("the pod on ::1", func() bool { return w.get("X-Upstream", "shop").pod == e.String() })
}

// samePort starts pods on different addresses with the same port.
func samePort(t *testing.T, n int) []endpoint {
	t.Helper()
	for range 20 {
		first := listen(t)
		_, port, _ := net.SplitHostPort(first.Addr().String())
		listeners := []net.Listener{first}
		for len(listeners) < n {
			l, err := net.Listen("tcp", fmt.Sprintf("127.88.%d.%d:%s", 200+addresses.Add(1)/200, addresses.Load()%200+1, port))
			if err != nil {
				break
			}
			listeners = append(listeners, l)
		}
		if len(listeners) == n {
			var endpoints []endpoint
			for _, l := range listeners {
				endpoints = append(endpoints, servePod(t, l))
			}
			return endpoints
		}
		for _, l := range listeners {
			l.Close()
		}
	}
	t.Fatal("no port is free on several addresses")
	return nil
}
