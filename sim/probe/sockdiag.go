package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// errNoDiag means that sock_diag had no answer: this kernel or our rights do not allow it for TCP,
// or the socket has gone.
var errNoDiag = errors.New("sock_diag has no answer")

// The library determines the byte order on first use, without a lock. This call does it before any observer
// runs.
var _ = nl.NativeEndian()

// diagRequest asks for the one socket with these addresses: struct inet_diag_req_v2 of
// linux/inet_diag.h. The netlink library's own SocketGet asks for a dump of all, which the kernel
// filters by ports alone.
type diagRequest struct{ local, remote netip.AddrPort }

const (
	diagRequestSize = 56
	diagReplySize   = 72 // struct inet_diag_msg
	diagReplyState  = 1  // offsets in it
	diagReplyLocal  = 4  // the local port
	diagReplyRemote = 6  // the remote port
	diagReplyInode  = 68
)

func (r diagRequest) Len() int { return diagRequestSize }

func (r diagRequest) Serialize() []byte {
	b := make([]byte, diagRequestSize)
	b[0] = unix.AF_INET
	if r.local.Addr().Is6() {
		b[0] = unix.AF_INET6
	}
	b[1] = unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(b[4:], math.MaxUint32) // in any state
	binary.BigEndian.PutUint16(b[8:], r.local.Port())
	binary.BigEndian.PutUint16(b[10:], r.remote.Port())
	copy(b[12:28], r.local.Addr().AsSlice())
	copy(b[28:44], r.remote.Addr().AsSlice())
	binary.NativeEndian.PutUint32(b[48:], math.MaxUint32) // INET_DIAG_NOCOOKIE
	binary.NativeEndian.PutUint32(b[52:], math.MaxUint32)
	return b
}

// diagInode returns the inode of the socket with these addresses, 0 while no process has accepted
// it.
func (n network) diagInode(local, remote netip.AddrPort) (uint64, error) {
	request := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, 0)
	request.AddData(diagRequest{local, remote})
	done, err := n.ask(request, unix.NETLINK_INET_DIAG)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNoDiag, err)
	}
	defer done()
	replies, err := request.Execute(unix.NETLINK_INET_DIAG, nl.SOCK_DIAG_BY_FAMILY)
	switch {
	case err != nil: // ENOENT: the socket is not there, or the kernel has no tcp_diag
		return 0, fmt.Errorf("%w: %w", errNoDiag, err)
	case len(replies) != 1 || len(replies[0]) < diagReplySize:
		return 0, fmt.Errorf("%w: %d replies to one question", errNoDiag, len(replies))
	}
	reply := replies[0]
	if binary.BigEndian.Uint16(reply[diagReplyRemote:]) != remote.Port() {
		return 0, ErrNotAccepted // this is the listener: the connection has no socket of its own yet, or no longer
	}
	return uint64(binary.NativeEndian.Uint32(reply[diagReplyInode:])), nil
}

// diagAll asks for all TCP sockets of a family, except in states in which no process holds the
// socket.
type diagAll struct{ family byte }

func (r diagAll) Len() int { return diagRequestSize }

func (r diagAll) Serialize() []byte {
	b := make([]byte, diagRequestSize)
	b[0], b[1] = r.family, unix.IPPROTO_TCP
	const nobodys = 1<<unix.BPF_TCP_TIME_WAIT | 1<<unix.BPF_TCP_NEW_SYN_RECV | 1<<unix.BPF_TCP_SYN_RECV
	binary.NativeEndian.PutUint32(b[4:], math.MaxUint32&^nobodys)
	return b
}

// diagSockets returns the TCP sockets of the namespace.
func (n network) diagSockets() ([]socket, error) {
	var all []socket
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		request := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP)
		request.AddData(diagAll{family})
		done, err := n.ask(request, unix.NETLINK_INET_DIAG)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNoDiag, err)
		}
		err = request.ExecuteIter(unix.NETLINK_INET_DIAG, nl.SOCK_DIAG_BY_FAMILY, func(reply []byte) bool {
			if len(reply) >= diagReplySize {
				all = append(all, socket{
					inode:   uint64(binary.NativeEndian.Uint32(reply[diagReplyInode:])),
					port:    binary.BigEndian.Uint16(reply[diagReplyLocal:]),
					listens: reply[diagReplyState] == unix.BPF_TCP_LISTEN,
				})
			}
			return true
		})
		done()
		if err != nil && !errors.Is(err, nl.ErrDumpInterrupted) { // sockets came and went during the dump
			return nil, fmt.Errorf("%w: %w", errNoDiag, err)
		}
	}
	return all, nil
}
