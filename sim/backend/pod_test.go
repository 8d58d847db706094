package backend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/internal/sharedlistener"
	"windtunnel.dev/sim/event"
)

// newFleet returns a fleet in a prefix that no other test uses at the same time. Its pods share
// sockets, where the kernel supports that.
func newFleet(t *testing.T, log *event.Log) *Loopback {
	t.Helper()
	return fleetOf(t, log, false)
}

func fleetOf(t *testing.T, log *event.Log, ownSockets bool) *Loopback {
	t.Helper()
	f := New(Options{
		Prefix: netip.MustParsePrefix("127.201.0.0/16"), Port: freePort(t),
		Log: log, Subject: "it", OwnSockets: ownSockets,
	})
	t.Cleanup(f.Stop)
	return f
}

// makeFleet has the signature of newFleet.
type makeFleet func(*testing.T, *event.Log) *Loopback

// inEachMode runs a test with pods that share sockets, and with pods that do not.
func inEachMode(t *testing.T, test func(*testing.T, makeFleet)) {
	t.Run(string(event.SharedSockets), func(t *testing.T) {
		needShared(t)
		test(t, newFleet)
	})
	t.Run(string(event.OwnSockets), func(t *testing.T) {
		test(t, func(t *testing.T, log *event.Log) *Loopback { return fleetOf(t, log, true) })
	})
}

// needShared skips the test if pods cannot share sockets here.
func needShared(t *testing.T) {
	t.Helper()
	if err := sharedlistener.Supported(); err != nil {
		t.Skip(err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	return free
}

func start(t *testing.T, f *Loopback, name string) Pod {
	t.Helper()
	p, err := f.Start(name, "demo/web")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ready(t *testing.T, f *Loopback, name string) Pod {
	t.Helper()
	p := start(t, f, name)
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	return p
}

func post(t *testing.T, p Pod, body string) (*http.Response, []byte) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Post("http://"+p.Addr().String()+"/", "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, got
}

func mustRefuse(t *testing.T, p Pod) {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr().String())
	if err == nil {
		c.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("connecting to a pod in state %s: %v, want a refusal", p.State(), err)
	}
}

func TestAnswerNamesThePod(t *testing.T) {
	p := ready(t, newFleet(t, nil), "demo/web-1")
	response, body := post(t, p, "abc")
	want := Identity{
		Pod: "demo/web-1", Service: "demo/web", State: Ready,
		Body: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", // FIPS 180-2, B.1
	}
	if diff := cmp.Diff(want, IdentityOf(response.Header)); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	inBody, err := ParseIdentity(body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, inBody); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if response.ContentLength != int64(len(body)) {
		t.Errorf("Content-Length is %d, but the body has %d bytes", response.ContentLength, len(body))
	}
}

func TestPodLifecycle(t *testing.T) { inEachMode(t, testPodLifecycle) }

func testPodLifecycle(t *testing.T, newFleet makeFleet) {
	var out bytes.Buffer
	log := event.NewLog(&out, time.Now())
	f := newFleet(t, log)

	p := start(t, f, "demo/web-1")
	mustRefuse(t, p)
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); err == nil {
		t.Error("a pod that was ready became ready again")
	}
	p.Terminate(time.Hour)
	if r, _ := post(t, p, ""); r.Header.Get(StateHeader) != string(Terminating) {
		t.Errorf("a terminating pod reports the state %q", r.Header.Get(StateHeader))
	}
	p.Gone()
	<-p.Done()
	mustRefuse(t, p)
	if _, ok := f.Get("demo/web-1"); ok {
		t.Error("Get returns a pod that is gone")
	}
	if err := p.Ready(); err == nil {
		t.Error("a pod that was gone became ready")
	}

	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var states []string
	for e, err := range event.Read(&out) {
		if err != nil {
			t.Fatal(err)
		}
		if e.PodSockets != nil {
			continue
		}
		if e.Subject != "it" || e.Pod.Name != "demo/web-1" || e.Pod.Service != "demo/web" || e.Pod.Address != p.Addr().String() {
			t.Errorf("event %+v %+v", e, e.Pod)
		}
		states = append(states, e.Pod.State)
	}
	if diff := cmp.Diff([]string{"starting", "ready", "terminating", "gone"}, states); diff != "" {
		t.Errorf("states in the log (-want +got):\n%s", diff)
	}
}

func TestDrainEndsByItself(t *testing.T) { inEachMode(t, testDrainEndsByItself) }

func testDrainEndsByItself(t *testing.T, newFleet makeFleet) {
	f := newFleet(t, nil)
	p := ready(t, f, "demo/web-1")
	p.Terminate(time.Millisecond)
	<-p.Done()
	mustRefuse(t, p)
}

func TestGoneClosesIdleAndFinishesInFlight(t *testing.T) {
	inEachMode(t, testGoneClosesIdleAndFinishesInFlight)
}

func testGoneClosesIdleAndFinishesInFlight(t *testing.T, newFleet makeFleet) {
	f := newFleet(t, nil)
	p := ready(t, f, "demo/web-1")

	idle := dial(t, p)
	fmt.Fprintf(idle, "GET / HTTP/1.1\r\nHost: web\r\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(idle), nil); err != nil {
		t.Fatal(err)
	}

	busy := dial(t, p)
	fmt.Fprintf(busy, "POST / HTTP/1.1\r\nHost: web\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	reader := bufio.NewReader(busy)
	if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("no 100 Continue: %q, %v", line, err)
	}
	reader.ReadString('\n')

	go p.Gone()
	// The FIN on the idle connection shows that Gone has begun; by then the listener is closed.
	if n, err := io.Copy(io.Discard, idle); err != nil {
		t.Errorf("the idle connection ended with %v after %d bytes, want a FIN", err, n)
	}
	mustRefuse(t, p)
	fmt.Fprintf(busy, "abc")
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatalf("the answer in progress was cut off: %v", err)
	}
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Errorf("the answer in progress was cut off: %v", err)
	}
	if got := response.Header.Get(StateHeader); got != string(Ready) {
		t.Errorf("the answer to a request that arrived at a ready pod reports the state %s", got)
	}
	<-p.Done()
}

// A connection on which nothing ever arrived has no answer in progress: the pod does not wait for
// it and logs no trouble.
func TestGoneClosesSilentConnections(t *testing.T) { inEachMode(t, testGoneClosesSilentConnections) }

func testGoneClosesSilentConnections(t *testing.T, newFleet makeFleet) {
	var out bytes.Buffer
	log := event.NewLog(&out, time.Now())
	p := ready(t, newFleet(t, log), "demo/web-1")
	silent, busy := dial(t, p), dial(t, p)
	fmt.Fprintf(busy, "POST / HTTP/1.1\r\nHost: web\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	reader := bufio.NewReader(busy)
	if _, err := reader.ReadString('\n'); err != nil { // accepted after silent, so silent has been accepted as well
		t.Fatal(err)
	}
	reader.ReadString('\n')

	go p.Gone()
	if n, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("the silent connection ended with %v after %d bytes, want a FIN", err, n)
	}
	select {
	case <-p.Done():
		t.Error("the pod did not wait for the answer in progress")
	default: // the silent connection was closed first
	}
	fmt.Fprintf(busy, "abc")
	if _, err := http.ReadResponse(reader, nil); err != nil {
		t.Errorf("the answer in progress was cut off: %v", err)
	}
	<-p.Done()

	noTrouble(t, log, &out)
}

// noTrouble fails the test if the log in out contains a trouble.
func noTrouble(t *testing.T, log *event.Log, out *bytes.Buffer) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for e, err := range event.Read(out) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Trouble != nil {
			t.Errorf("trouble: %+v", e.Trouble)
		}
	}
}

// A pod answers a request that has arrived, even if it has not read it yet.
func TestGoneAnswersArrivedRequests(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.201.255.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &idleListener{Listener: listener}
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write([]byte("x")); err != nil { // over loopback it arrives at once
		t.Fatal(err)
	}
	accepted, err := e.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	e.stop()
	if err := e.Close(); err != nil {
		t.Errorf("closing it again: %v", err)
	}
	if n, err := accepted.Read(make([]byte, 2)); n != 1 || err != nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
}

func TestStopCutsRequests(t *testing.T) { inEachMode(t, testStopCutsRequests) }

func testStopCutsRequests(t *testing.T, newFleet makeFleet) {
	f := newFleet(t, nil)
	p := ready(t, f, "demo/web-1")
	busy := dial(t, p)
	fmt.Fprintf(busy, "POST / HTTP/1.1\r\nHost: web\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	if _, err := bufio.NewReader(busy).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	f.Stop()
	<-p.Done()
	mustRefuse(t, p)
	if _, err := f.Start("demo/web-2", "demo/web"); err == nil {
		t.Error("a stopped fleet has started a pod")
	}
}

func dial(t *testing.T, p Pod) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestNamesAndAddresses(t *testing.T) {
	f := New(Options{Prefix: netip.MustParsePrefix("127.201.7.0/29"), Port: 1})
	seen := map[netip.AddrPort]bool{}
	for i := range 6 { // a /29 has eight addresses, two of which are not for hosts
		p, err := f.Start("demo/web", "demo/web")
		if err != nil {
			t.Fatalf("pod %d: %v", i, err)
		}
		if seen[p.Addr()] {
			t.Errorf("address %v was assigned twice", p.Addr())
		}
		seen[p.Addr()] = true
		if _, err := f.Start("demo/web", "demo/web"); err == nil {
			t.Error("two pods with the same name run at the same time")
		}
		p.Gone()
	}
	if _, err := f.Start("demo/web", "demo/web"); err == nil || !strings.Contains(err.Error(), "have been used") {
		t.Errorf("without a free address: %v", err)
	}
	f = New(Options{Prefix: netip.MustParsePrefix("10.0.0.0/8"), Port: 1})
	if _, err := f.Start("demo/web", "demo/web"); err == nil {
		t.Error("a pod was started outside loopback")
	}
}

func TestReadyFailsIfAddressIsInUse(t *testing.T) {
	f := fleetOf(t, nil, true)
	p := start(t, f, "demo/web-1")
	l, err := net.Listen("tcp4", p.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); !errors.Is(err, syscall.EADDRINUSE) || p.State() != Starting {
		t.Errorf("Ready returned %v; the pod is %s", err, p.State())
	}
	l.Close()
	if err := p.Ready(); err != nil {
		t.Error(err)
	}
}

// If several goroutines end a pod at once, it ends exactly once, however short its life was.
func TestConcurrentEnds(t *testing.T) { inEachMode(t, testConcurrentEnds) }

func testConcurrentEnds(t *testing.T, newFleet makeFleet) {
	var out bytes.Buffer
	log := event.NewLog(&out, time.Now())
	f := newFleet(t, log)
	for i := range 50 {
		p := ready(t, f, fmt.Sprintf("demo/web-%d", i))
		var ends sync.WaitGroup
		ends.Go(func() { p.Terminate(0) })
		ends.Go(p.Gone)
		ends.Go(func() { p.Terminate(time.Microsecond) })
		ends.Wait()
		<-p.Done()
	}
	noTrouble(t, log, &out)
}

func FuzzParseIdentity(f *testing.F) {
	f.Add([]byte(`{"pod":"demo/web-1","service":"demo/web","state":"ready","body":"00"}`))
	f.Add([]byte(`{"pod":1}`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, body []byte) {
		identity, err := ParseIdentity(body)
		if err != nil && identity != (Identity{}) {
			t.Errorf("an error with a value: %+v", identity)
		}
	})
}

// Stop also cuts off the last answers of pods that are gone.
func TestStopWaitsForTerminatingPods(t *testing.T) { inEachMode(t, testStopWaitsForTerminatingPods) }

func testStopWaitsForTerminatingPods(t *testing.T, newFleet makeFleet) {
	f := newFleet(t, nil)
	p := ready(t, f, "demo/web-1")
	slow, err := http.NewRequest(http.MethodGet, "http://"+p.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	slow.Header.Set(TakeHeader, "1m")
	response, err := http.DefaultClient.Do(slow) // its header has arrived
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	go p.Gone()
	for p.State() != Gone {
		time.Sleep(time.Millisecond)
	}
	f.Stop()
	select {
	case <-p.Done():
	default:
		t.Error("Stop has returned before a terminating pod had ended")
	}
}

// A pod may listen on several ports, and answers alike on all of them, until it is gone.
func TestFurtherPorts(t *testing.T) { inEachMode(t, testFurtherPorts) }

func testFurtherPorts(t *testing.T, newFleet makeFleet) {
	f := newFleet(t, nil)
	p, err := f.StartOn("demo/web-1", "demo/web", []int{freePort(t)})
	if err != nil {
		t.Fatal(err)
	}
	further := netip.AddrPortFrom(p.Addr().Addr(), uint16(p.(*pod).further[0]))
	if _, err := http.Get("http://" + further.String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("before it is ready: %v", err)
	}
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []netip.AddrPort{p.Addr(), further} {
		response, err := http.Get("http://" + at.String())
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := IdentityOf(response.Header); got.Pod != "demo/web-1" || got.State != Ready {
			t.Errorf("%v: %+v", at, got)
		}
	}
	p.Gone()
	if _, err := net.Dial("tcp", further.String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("when it is gone: %v", err)
	}
}

func TestIdentityIsText(t *testing.T) {
	identity := Identity{Pod: "demo/web-1", Service: "demo/web", State: Ready, Body: "00"}
	text, err := json.Marshal(identity)
	if err != nil {
		t.Fatal(err)
	}
	if !identity.IsText(text) {
		t.Errorf("%s is not the text", text)
	}
	for _, other := range []string{"", "{}", string(text[:len(text)-1]), string(text) + " ", strings.Replace(string(text), "web-1", "web-2", 1)} {
		if identity.IsText([]byte(other)) {
			t.Errorf("%s is the text", other)
		}
	}
}
