package backend

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/event"
)

// In each mode, the log says how the pods listen, before the first becomes ready.
func TestModeIsLogged(t *testing.T) {
	inEachMode(t, func(t *testing.T, newFleet makeFleet) {
		var out bytes.Buffer
		log := event.NewLog(&out, time.Now())
		f := newFleet(t, log)
		ready(t, f, "demo/web-1")
		ready(t, f, "demo/web-2")
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		var seen []string
		for e, err := range event.Read(&out) {
			if err != nil {
				t.Fatal(err)
			}
			if e.PodSockets != nil {
				seen = append(seen, string(e.PodSockets.Mode)+" of "+e.Subject)
			} else if e.Pod.State == string(Ready) {
				seen = append(seen, e.Pod.Name)
			}
		}
		_, mode, _ := strings.Cut(t.Name(), "/")
		if want := []string{mode + " of it", "demo/web-1", "demo/web-2"}; fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("log %q, want %q", seen, want)
		}
	})
}

// Pods answer over TCP and UDP while they serve, and refuse before and after.
func TestStreams(t *testing.T) {
	inEachMode(t, func(t *testing.T, newFleet makeFleet) {
		f := newFleet(t, nil)
		f.options.StreamPort = freePort(t)
		one, other := start(t, f, "demo/web-1"), ready(t, f, "demo/web-2")
		refuses := func(p Pod) {
			t.Helper()
			for _, network := range []string{"tcp", "udp"} {
				if answer, err := askStream(network, p.StreamAddr()); !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("%s at a pod that is %s: %q, %v, want a refusal", network, p.State(), answer, err)
				}
			}
		}
		refuses(one)
		if err := one.Ready(); err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string]Pod{"demo/web-1": one, "demo/web-2": other} {
			for _, network := range []string{"tcp", "udp"} {
				answer, err := askStream(network, p.StreamAddr())
				if identity, _ := ParseIdentity(answer); err != nil || identity.Pod != name || identity.State != Ready {
					t.Errorf("%s: %q, %v, want an answer of %s", network, answer, err, name)
				}
			}
		}
		one.Gone()
		refuses(one)
		if answer, err := askStream("udp", other.StreamAddr()); err != nil {
			t.Errorf("the other pod: %q, %v", answer, err)
		}
	})
}

// askStream sends a line, and returns the first bytes of the answer.
func askStream(network string, to netip.AddrPort) ([]byte, error) {
	conn, err := net.Dial(network, to.String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		return nil, err
	}
	answer := make([]byte, 1000)
	n, err := conn.Read(answer)
	return answer[:n], err
}

// A pod that is gone answers no datagram, not even one that it has received and is to answer later.
func TestGonePodAnswersNoDatagram(t *testing.T) {
	needShared(t)
	f := newFleet(t, nil)
	f.options.StreamPort = freePort(t)
	gone, lives := ready(t, f, "demo/web-1"), ready(t, f, "demo/web-2")
	conn, err := net.Dial("udp", gone.StreamAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, AnswerAfter+"50ms ")
	if _, err := askStream("udp", lives.StreamAddr()); err != nil { // one goroutine reads both, in order
		t.Fatal(err)
	}
	gone.Gone()
	conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

// Pods come and go while clients ask. Each answer names the pod of its address, and pods that stay
// always answer.
func TestLifecyclesUnderLoad(t *testing.T) {
	needShared(t)
	f := newFleet(t, nil)
	const stay = 50
	var mu sync.Mutex
	all := startMany(t, f, stay) // the first are those that stay
	var lives, clients sync.WaitGroup
	for churner := range 4 {
		lives.Go(func() {
			for i := range 100 {
				p := ready(t, f, fmt.Sprintf("demo/churn-%d-%d", churner, i))
				mu.Lock()
				all = append(all, p)
				mu.Unlock()
				p.Terminate(time.Hour)
				p.Gone()
			}
		})
	}
	var over atomic.Bool
	for n := range 2 {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(n)))
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			for !over.Load() {
				mu.Lock()
				p := all[random.IntN(len(all))].(*pod)
				mu.Unlock()
				response, err := client.Get("http://" + p.Addr().String())
				switch {
				case err == nil:
					response.Body.Close()
					if got := IdentityOf(response.Header).Pod; got != p.name {
						t.Errorf("%q answered for %q", got, p.name)
					}
				case !strings.HasPrefix(p.name, "demo/churn"):
					t.Errorf("pod %s, which stays: %v", p.name, err)
				}
			}
		})
	}
	lives.Wait()
	over.Store(true)
	clients.Wait()
	for _, p := range all[stay:] {
		mustRefuse(t, p)
	}
}

// If a shared socket cannot accept, the log has a trouble that says what to do.
func TestTroubleOfSharedSockets(t *testing.T) {
	needShared(t)
	told := make(chan event.Event, 100)
	sockets := newSharedSockets(netip.MustParseAddr("127.212.255.255"), func(e event.Event) { told <- e })
	defer sockets.stop()
	at := netip.AddrPortFrom(netip.MustParseAddr("127.212.0.1"), uint16(freePort(t)))
	p := newPod(podContext{sockets: sockets, tell: func(event.Event) {}, forget: func(*pod) {}}, "demo/web-1", "demo/web", at)
	p.setState(Starting)
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	defer p.Gone()
	client, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(client)

	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: limit.Max}); err != nil { // denies every further file
		t.Fatal(err)
	}
	err = unix.Connect(client, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()})
	e := <-told
	unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	if err != nil || e.Trouble == nil || !strings.Contains(e.Trouble.Detail, "ulimit -n") {
		t.Errorf("connect: %v; told %+v", err, e.Trouble)
	}
	// The connection is accepted when there are files again, and served.
	if _, err := unix.Write(client, []byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1000)
	if n, err := unix.Read(client, answer); !bytes.Contains(answer[:max(n, 0)], []byte("demo/web-1")) {
		t.Errorf("read %q, %v", answer[:max(n, 0)], err)
	}
	runtime.KeepAlive(p)
}
