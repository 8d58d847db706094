package probe

import (
	"errors"
	"strconv"
	"strings"

	"windtunnel.dev/sim/event"
)

// socket is a TCP socket of a network namespace. Its inode leads to the process that holds it.
type socket struct {
	inode   uint64 // 0: no process holds it
	port    uint16 // the local one
	listens bool
}

// sockets returns all TCP sockets of the namespace, from sock_diag(7), or from /proc where that
// fails.
func (n network) sockets() ([]socket, error) {
	all, err := n.diagSockets()
	if errors.Is(err, errNoDiag) {
		return n.procSockets()
	}
	return all, err
}

func (n network) procSockets() ([]socket, error) {
	lines, err := n.procTCP()
	if err != nil {
		return nil, err
	}
	const listen = 0x0A // TCP_LISTEN
	var all []socket
	for _, line := range lines {
		all = append(all, socket{inode: line.Inode, port: uint16(line.LocalPort), listens: line.St == listen})
	}
	return all, nil
}

// heldBy counts the connections that each of the processes holds open. If some socket listens on a
// connection's local port, the connection was accepted: the kernel chooses no such port for a
// connection that a process opens. (So clients of a port on which no socket listens any more, for
// example after the master's death, count as pods.)
func heldBy(pids []int) (map[int]event.Connections, error) {
	held := map[int]event.Connections{}
	for network, pids := range networks(pids) {
		if err := network.addHeld(held, pids); err != nil && !gone(err) { // the process through which we look has ended
			return nil, err
		}
	}
	return held, nil
}

func (n network) addHeld(held map[int]event.Connections, pids []int) error {
	all, err := n.sockets()
	if err != nil {
		return err
	}
	listened := map[uint16]bool{}
	connections := map[uint64]socket{}
	for _, s := range all {
		switch {
		case s.listens:
			listened[s.port] = true
		case s.inode != 0: // otherwise not yet accepted, or closed
			connections[s.inode] = s
		}
	}
	for _, pid := range pids {
		var mine event.Connections
		for file, err := range filesOf(pid) {
			if err != nil && !gone(err) {
				return err
			}
			s, open := connections[inodeOf(file)]
			switch {
			case !open:
			case listened[s.port]:
				mine.Clients++
			default:
				mine.Pods++
			}
		}
		held[pid] = mine
	}
	return nil
}

// inodeOf returns the inode of a socket from its name in /proc, 0 for any other file.
func inodeOf(file string) uint64 {
	number, _ := strings.CutPrefix(file, "socket:[")
	inode, _ := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
	return inode
}
