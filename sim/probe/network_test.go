package probe

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"windtunnel.dev/sim/event"
)

// asListener is the environment variable that makes the test's binary the listener in another
// namespace.
const asListener = "PROBE_TEST_LISTENS"

// TestListens is not a test: it accepts connections in a namespace of its own until its input ends.
func TestListens(t *testing.T) {
	if os.Getenv(asListener) == "" {
		t.Skip("runs only as a part of TestOtherNetwork")
	}
	listener, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close() // at the end
			conn.Write([]byte("."))
		}
	}()
	fmt.Fprintf(os.Stderr, "%d\n", listener.Addr().(*net.TCPAddr).Port)
	io.Copy(io.Discard, os.Stdin)
}

// otherNetwork starts the listener in a network namespace of its own, connected to ours by a veth
// pair.
func otherNetwork(t *testing.T) (pid int, address string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestListens$")
	child.Env = append(os.Environ(), asListener+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := child.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); errors.Is(err, os.ErrPermission) {
		t.Skipf("cannot create a network namespace: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); child.Wait() })
	pid = child.Process.Pid
	port, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}

	there, err := netns.GetFromPid(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	inside, err := netlink.NewHandleAt(there)
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	name := fmt.Sprintf("wtp%d", pid)
	cable := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "b", PeerNamespace: netlink.NsPid(pid)}
	if err := netlink.LinkAdd(cable); err != nil {
		t.Skipf("cannot create a veth pair: %v", err)
	}
	t.Cleanup(func() { netlink.LinkDel(cable) })
	ours, theirs := fmt.Sprintf("198.19.%d.1", pid%250), fmt.Sprintf("198.19.%d.2", pid%250)
	up := func(name, address string, links interface {
		LinkByName(string) (netlink.Link, error)
		AddrAdd(netlink.Link, *netlink.Addr) error
		LinkSetUp(netlink.Link) error
	}) {
		t.Helper()
		link, err := links.LinkByName(name)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := netlink.ParseAddr(address + "/30")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(links.AddrAdd(link, parsed), links.LinkSetUp(link)); err != nil {
			t.Fatal(err)
		}
	}
	here, err := netlink.NewHandle()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	up(name, ours, here)
	up(name+"b", theirs, inside)
	return pid, net.JoinHostPort(theirs, strings.TrimSpace(port))
}

func TestOtherNetwork(t *testing.T) {
	pid, address := otherNetwork(t)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil { // then it has been accepted
		t.Fatal(err)
	}
	if owner, err := Owner(conn, []int{os.Getpid(), pid}); owner != pid || err != nil {
		t.Errorf("Owner = %d, %v, want %d, in the other namespace", owner, err, pid)
	}
	if owner, err := Owner(conn, []int{os.Getpid()}); !errors.Is(err, ErrNotOwned) {
		t.Errorf("Owner in this namespace = %d, %v, want ErrNotOwned", owner, err)
	}
	held, err := heldBy([]int{os.Getpid(), pid})
	if err != nil {
		t.Fatal(err)
	}
	if held[pid] != (event.Connections{Clients: 1}) {
		t.Errorf("the process in the other namespace holds %+v, want one client", held[pid])
	}

	server, _ := addrPort(conn.RemoteAddr())
	client, _ := addrPort(conn.LocalAddr())
	inode, err := network(pid).procInode(server, client)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := holder(inode, []int{pid}); found != pid || err != nil {
		t.Errorf("according to /proc/%s/net/tcp, process %d holds the socket, %v", strconv.Itoa(pid), found, err)
	}
}

// A process in another network may end while we look into that network through it.
func TestOtherNetworkEnds(t *testing.T) {
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	n := network(child.Process.Pid)
	if err := n.addHeld(map[int]event.Connections{}, []int{int(n)}); !gone(err) {
		t.Errorf("sockets of an ended process: %v, want an error that it has gone", err)
	}
}
