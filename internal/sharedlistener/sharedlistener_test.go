package sharedlistener

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"windtunnel.dev/internal/port"
)

// roleVariable makes this binary the second process of TestKilledProcessLeavesNothing.
const roleVariable = "SHAREDLISTENER_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "server" {
		serveUntilKilled()
	}
	os.Exit(m.Run())
}

// prefix is 127.198.0.0/16: address n is 127.198.x.y. Its last address is that of the sockets.
func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{127, 198, byte(n >> 8), byte(n)}) }

const own = 1<<16 - 1

// need skips the test if the kernel does not let this process share sockets.
func need(t testing.TB) {
	t.Helper()
	if err := Supported(); errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
}

func listen(t testing.TB) (*TCP, int) {
	t.Helper()
	need(t)
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ListenTCP(netip.AddrPortFrom(address(own), uint16(free)), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Stop(); err != nil {
			t.Error(err)
		}
	})
	return l, free
}

// answer returns a handle that sends a text and closes the connection.
func answer(text string) func(net.Conn) {
	return func(c net.Conn) {
		io.WriteString(c, text)
		c.Close()
	}
}

// ask returns the answer of address n.
func ask(n, port int) (string, error) {
	c, err := net.DialTCP("tcp4", nil, net.TCPAddrFromAddrPort(netip.AddrPortFrom(address(n), uint16(port))))
	if err != nil {
		return "", err
	}
	defer c.Close()
	text, err := io.ReadAll(c)
	return string(text), err
}

func mustRefuse(t *testing.T, n, port int) {
	t.Helper()
	if _, err := ask(n, port); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("address %v: %v, want a refusal", address(n), err)
	}
}

func TestEachAddressHasItsOwnHandler(t *testing.T) {
	l, port := listen(t)
	const many = 300
	for n := range many {
		if err := l.Open(address(n), answer(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	for n := range many {
		if got, err := ask(n, port); err != nil || got != fmt.Sprint(n) {
			t.Errorf("address %d answers %q, %v", n, got, err)
		}
	}
	mustRefuse(t, many, port)
	if err := l.Open(address(1), answer("other")); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("opening an open address: %v", err)
	}
	if err := l.Close(address(1)); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, 1, port)
	if err := l.Open(address(1), answer("again")); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(1, port); got != "again" {
		t.Errorf("an address that is open again answers %q, %v", got, err)
	}
	if err := l.Stop(); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, 0, port)
	if err := l.Open(address(many), answer("late")); err == nil {
		t.Error("a socket that is closed opened an address")
	}
}

func TestSocketsHaveAddressesOfTheirOwn(t *testing.T) {
	one, onePort := listen(t)
	two, twoPort := listen(t)
	if err := one.Open(address(1), answer("one")); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, 1, twoPort)
	if err := two.Open(address(1), answer("two")); err != nil {
		t.Fatal(err)
	}
	if err := one.Stop(); err != nil {
		t.Fatal(err)
	}
	mustRefuse(t, 1, onePort)
	if got, err := ask(1, twoPort); got != "two" {
		t.Errorf("the other socket answers %q, %v", got, err)
	}
}

// Connections to the socket's own address are reset.
func TestOwnAddressResets(t *testing.T) {
	_, port := listen(t)
	if got, err := ask(own, port); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%q, %v, want a reset", got, err)
	}
}

func TestOnlyIPv4(t *testing.T) {
	l, _ := listen(t)
	if err := l.Open(netip.IPv6Loopback(), answer("")); err == nil || !strings.Contains(err.Error(), "IPv4") {
		t.Errorf("an IPv6 address: %v", err)
	}
}

// Addresses open and close under load. Each answer must come from its own address, those that stay open
// always answer, and those that are closed for good refuse.
func TestChangesUnderLoad(t *testing.T) {
	l, port := listen(t)
	const stay, change = 50, 50 // numbers from 0, and those after them
	for n := range stay {
		if err := l.Open(address(n), answer(fmt.Sprint(n))); err != nil {
			t.Fatal(err)
		}
	}
	var changes, clients sync.WaitGroup
	var over atomic.Bool
	for n := stay; n < stay+change; n++ {
		changes.Go(func() {
			for range 40 {
				if err := l.Open(address(n), answer(fmt.Sprint(n))); err != nil {
					t.Error(err)
				}
				runtime.Gosched()
				if err := l.Close(address(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var answered atomic.Int64
	for client := range 4 {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(client)))
			for !over.Load() {
				n := random.IntN(stay + change)
				got, err := ask(n, port)
				switch lost := errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET); {
				case err == nil && got == fmt.Sprint(n):
					answered.Add(1)
				case n >= stay && lost && got == "":
				default:
					t.Errorf("address %d: %q, %v", n, got, err)
				}
			}
		})
	}
	changes.Wait()
	for answered.Load() < 200 && !t.Failed() {
		runtime.Gosched()
	}
	over.Store(true)
	clients.Wait()
	for n := stay; n < stay+change; n++ {
		mustRefuse(t, n, port)
	}
}

// UntilClosed reports errors and tries again until the socket is closed.
func TestErrorsAreReported(t *testing.T) {
	results := []error{syscall.EMFILE, nil, syscall.ENFILE, net.ErrClosed}
	var troubles []error
	UntilClosed(func(err error) { troubles = append(troubles, err) }, func() error {
		next := results[0]
		results = results[1:]
		return next
	})
	if len(results) > 0 || !slices.Equal(troubles, []error{syscall.EMFILE, syscall.ENFILE}) {
		t.Errorf("reported %v, left %v", troubles, results)
	}
}

func TestDatagrams(t *testing.T) {
	need(t)
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ListenUDP(netip.AddrPortFrom(address(own), uint16(free)), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	for n := range 20 {
		err := l.Open(address(n), func(datagram []byte, from netip.AddrPort) {
			if err := l.Send(address(n), from, fmt.Appendf(nil, "%s to %d", datagram, n)); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ask := func(n int) (string, error) {
		// A connected socket receives nothing from other addresses.
		c, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(address(n), uint16(free))))
		if err != nil {
			return "", err
		}
		defer c.Close()
		if _, err := io.WriteString(c, "hello"); err != nil {
			return "", err
		}
		buffer := make([]byte, 100)
		read, err := c.Read(buffer)
		return string(buffer[:max(read, 0)]), err
	}
	for n := range 20 {
		if got, err := ask(n); got != fmt.Sprintf("hello to %d", n) {
			t.Errorf("address %d: %q, %v", n, got, err)
		}
	}
	if err := l.Close(address(7)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{7, 20} {
		if got, err := ask(n); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("address %d: %q, %v, want a refusal", n, got, err)
		}
	}
}

// A process without privileges gets ErrUnsupported, with the cause.
func TestUnsupportedWithoutPrivileges(t *testing.T) {
	var wg sync.WaitGroup
	wg.Go(func() {
		runtime.LockOSThread() // for good: the thread has lost its capabilities, and ends with the goroutine
		var none [2]unix.CapUserData
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		if err := unix.Capset(&header, &none[0]); err != nil {
			t.Error(err)
			return
		}
		err := Supported()
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "CAP_BPF") {
			t.Errorf("Supported = %v", err)
		}
	})
	wg.Wait()
}

// serveUntilKilled prints its port and the ID of its program.
func serveUntilKilled() {
	free, err := port.Free(1)
	if err == nil {
		var l *TCP
		if l, err = ListenTCP(netip.AddrPortFrom(address(own-1), uint16(free)), func(err error) { panic(err) }); err == nil {
			for n := range 1000 {
				if err := l.Open(address(n), answer("the other process")); err != nil {
					panic(err)
				}
			}
			var info *ebpf.ProgramInfo
			if info, err = l.addresses.table.program.Info(); err == nil {
				id, _ := info.ID()
				fmt.Println(free, id)
				select {}
			}
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// Two processes do not disturb each other, and one that is killed leaves nothing in the kernel.
func TestKilledProcessLeavesNothing(t *testing.T) {
	l, port := listen(t)
	if err := l.Open(address(1), answer("this process")); err != nil {
		t.Fatal(err)
	}
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), roleVariable+"=server")
	other.Stderr = os.Stderr
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Process.Kill()
	var otherPort int
	var program ebpf.ProgramID
	if _, err := fmt.Fscan(bufio.NewReader(out), &otherPort, &program); err != nil {
		t.Fatal(err)
	}
	if got, err := ask(1, otherPort); got != "the other process" {
		t.Errorf("the other process answers %q, %v", got, err)
	}
	if got, err := ask(1, port); got != "this process" {
		t.Errorf("this process answers %q, %v", got, err)
	}

	if err := other.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	other.Wait()
	mustRefuse(t, 1, otherPort)
	if got, err := ask(1, port); got != "this process" {
		t.Errorf("this process answers %q, %v", got, err)
	}
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() { // the kernel frees it a little later
		left, err := ebpf.NewProgramFromID(program)
		if errors.Is(err, os.ErrNotExist) {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the program of the process that was killed is still there, or %v", err)
		}
		left.Close()
	}
}

func BenchmarkOpenAndClose(b *testing.B) {
	l, _ := listen(b)
	handle := answer("")
	for b.Loop() {
		if err := l.Open(address(1), handle); err != nil {
			b.Fatal(err)
		}
		if err := l.Close(address(1)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkConnect(b *testing.B) {
	l, port := listen(b)
	if err := l.Open(address(1), answer("1")); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := ask(1, port); err != nil {
			b.Fatal(err)
		}
	}
}
