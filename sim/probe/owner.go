package probe

import (
	"errors"
	"fmt"
	"iter"
	"net"
	"net/netip"
	"os"
	"strconv"

	"github.com/prometheus/procfs"
)

// ErrNotAccepted means that no process has accepted the connection yet.
var ErrNotAccepted = errors.New("no process has accepted the connection")

// ErrNotOwned means that none of the given processes holds the connection: another one does, or
// none does any more.
var ErrNotOwned = errors.New("none of the processes holds the connection")

// Owner returns the PID of the process that holds the server's side of a TCP connection that we
// opened to this machine, or to a container on it. It asks the kernel for that socket
// (sock_diag(7)), in the network namespace of the processes, and then looks through their open
// files. Without sock_diag it reads all sockets from /proc/PID/net/tcp. It works only if nothing on
// the way rewrites the addresses.
func Owner(conn net.Conn, pids []int) (int, error) {
	ours, err := addrPort(conn.LocalAddr())
	if err != nil {
		return 0, err
	}
	server, err := addrPort(conn.RemoteAddr())
	if err != nil {
		return 0, err
	}
	failed := ErrNotOwned
	for network, pids := range networks(pids) {
		pid, err := network.owner(server, ours, pids)
		if err == nil || errors.Is(err, ErrNotAccepted) {
			return pid, err
		}
		failed = err
	}
	return 0, failed
}

func (n network) owner(server, client netip.AddrPort, pids []int) (int, error) {
	inode, err := n.socketInode(server, client)
	if err != nil {
		return 0, fmt.Errorf("finding the socket %v that serves %v: %w", server, client, err)
	}
	return holder(inode, pids)
}

func addrPort(a net.Addr) (netip.AddrPort, error) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}, fmt.Errorf("finding the owner of a connection: %v is not a TCP address", a)
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()), nil
}

func (n network) socketInode(local, remote netip.AddrPort) (uint64, error) {
	inode, err := n.diagInode(local, remote)
	if errors.Is(err, errNoDiag) {
		inode, err = n.procInode(local, remote)
	}
	if err == nil && inode == 0 {
		err = ErrNotAccepted // the connection waits in a listener's queue
	}
	return inode, err
}

// procInode is diagInode with net/tcp and net/tcp6 of /proc; the latter has the IPv4 connections of
// sockets that listen on both.
func (n network) procInode(local, remote netip.AddrPort) (uint64, error) {
	lines, err := n.procTCP()
	if err != nil {
		return 0, err
	}
	for _, line := range lines {
		if lineAddr(line.LocalAddr, line.LocalPort) == local && lineAddr(line.RemAddr, line.RemPort) == remote {
			return line.Inode, nil
		}
	}
	return 0, ErrNotOwned
}

func (n network) procTCP() (procfs.NetTCP, error) {
	fs, err := n.proc()
	if err != nil {
		return nil, err
	}
	four, err := fs.NetTCP()
	if err != nil {
		return nil, err
	}
	six, err := fs.NetTCP6()
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without IPv6
		return nil, err
	}
	return append(four, six...), nil
}

func lineAddr(ip net.IP, port uint64) netip.AddrPort {
	addr, _ := netip.AddrFromSlice(ip)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port))
}

// holder returns the process that has the socket open.
func holder(inode uint64, pids []int) (int, error) {
	want := "socket:[" + strconv.FormatUint(inode, 10) + "]"
	for _, pid := range pids {
		has, err := hasOpen(pid, want)
		switch {
		case errors.Is(err, os.ErrNotExist): // the process has just ended
		case err != nil:
			return 0, fmt.Errorf("looking at the files process %d holds open: %w", pid, err)
		case has:
			return pid, nil
		}
	}
	return 0, ErrNotOwned
}

func hasOpen(pid int, file string) (bool, error) {
	for link, err := range filesOf(pid) {
		if err != nil || link == file {
			return err == nil, err
		}
	}
	return false, nil
}

// filesOf yields the open files of a process, with their names in /proc, or one error.
func filesOf(pid int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		folder := fmt.Sprintf("/proc/%d/fd", pid)
		dir, err := os.Open(folder)
		if errors.Is(err, os.ErrPermission) && isEnding(pid) {
			err = fmt.Errorf("%s: %w", folder, os.ErrNotExist)
		}
		if err != nil {
			yield("", err)
			return
		}
		defer dir.Close()
		names, err := dir.Readdirnames(-1)
		if err != nil {
			yield("", err)
			return
		}
		for _, name := range names {
			link, err := os.Readlink(folder + "/" + name)
			if err == nil && !yield(link, nil) { // an error means that it was just closed
				return
			}
		}
	}
}

// isEnding reports whether a process has ended, or is about to: it has given up its memory, and then its
// files in /proc belong to root (task_dump_owner in Linux's fs/proc/base.c).
func isEnding(pid int) bool {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return gone(err)
	}
	stat, err := proc.Stat()
	return gone(err) || err == nil && stat.VSize == 0
}
