package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// wantNew is a number of new connections per second that every machine should have room for.
	wantNew = 1_000
	// exempt is the command that ends the tracking of loopback connections, until the machine restarts.
	exempt = "iptables -t raw -I OUTPUT -o lo -j CT --notrack"

	trackerFolder = "/proc/sys/net/netfilter/"
)

// examineTracking checks whether the kernel tracks loopback connections, as it does if any rule of
// netfilter needs it, and whether its table has room for those of a run.
func examineTracking(ctx context.Context) Result {
	result := Result{What: "connection tracking", Without: "high rates of new connections: the kernel drops packets when its table is full"}
	tracked, err := tracksLoopback(ctx)
	if err != nil {
		result.Found = "a connection over loopback fails: " + err.Error()
		if full, err := readTracker(); err == nil {
			result.Found += "; the table of connection tracking: " + full.String()
		}
		return result
	}
	if !tracked {
		result.OK, result.Found = true, "loopback is not tracked"
		return result
	}
	size, err := readTracker()
	if err != nil {
		result.Found = "loopback is tracked, with unknown room: " + err.Error()
		return result
	}
	result.OK = size.room() >= wantNew
	result.Found = fmt.Sprintf("loopback is tracked, which costs CPU time: %v. To exempt loopback: %s", size, exempt)
	if !result.OK {
		result.Found += fmt.Sprintf(". To make room: sysctl -w net.netfilter.nf_conntrack_max=%d", wantNew*size.keeps)
	}
	return result
}

// tracksLoopback opens a connection over loopback and asks the kernel whether its table contains it:
// only the table knows where a connection was originally directed.
func tracksLoopback(ctx context.Context) (bool, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return false, err
	}
	defer listener.Close()
	dialer := net.Dialer{Timeout: time.Second} // a full table lets no connection through
	conn, err := dialer.DialContext(ctx, "tcp4", listener.Addr().String())
	if err != nil {
		return false, err
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return false, err
	}
	var asked error
	if err := raw.Control(func(fd uintptr) {
		_, asked = unix.GetsockoptString(int(fd), unix.SOL_IP, unix.SO_ORIGINAL_DST)
	}); err != nil {
		return false, err
	}
	if errors.Is(asked, syscall.ENOENT) || errors.Is(asked, syscall.ENOPROTOOPT) { // not in the table; no table
		return false, nil
	}
	return asked == nil, asked
}

// tracker is the size of the kernel's table of connections.
type tracker struct {
	entries int
	limit   int // 0: none
	keeps   int // seconds for which a closed connection stays in the table
}

func readTracker() (size tracker, err error) {
	for name, value := range map[string]*int{
		"nf_conntrack_count": &size.entries, "nf_conntrack_max": &size.limit, "nf_conntrack_tcp_timeout_time_wait": &size.keeps,
	} {
		text, err := os.ReadFile(trackerFolder + name)
		if err != nil {
			return tracker{}, err
		}
		if *value, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
			return tracker{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	return size, nil
}

// room returns how many new connections per second the table can hold.
func (t tracker) room() int {
	if t.limit == 0 {
		return math.MaxInt
	}
	return t.limit / max(t.keeps, 1)
}

func (t tracker) String() string {
	if t.limit == 0 {
		return fmt.Sprintf("%d entries are in use; there is no limit", t.entries)
	}
	return fmt.Sprintf("%d of %d entries are in use; room for %d new connections per second, each stays for %d s", t.entries, t.limit, t.room(), t.keeps)
}
