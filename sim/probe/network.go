package probe

import (
	"fmt"
	"os"
	"strconv"

	"github.com/prometheus/procfs"
	"github.com/vishvananda/netlink/nl"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// network is a network namespace by a process in it: 0 is our own. The kernel
// tells of the sockets of one namespace at a time, and those of a container have
// one of their own.
type network int

// networks sorts processes by the namespace that they are in. Those that have ended
// are in none.
func networks(pids []int) map[network][]int {
	own, _ := os.Readlink("/proc/thread-self/ns/net") // a thread may be elsewhere for a moment, but not this one
	all := map[network][]int{}
	first := map[string]network{own: 0}
	for _, pid := range pids {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err != nil {
			if gone(err) {
				continue
			}
			name = own // it may not be looked into; whoever reads its files says so
		}
		if _, known := first[name]; !known {
			first[name] = network(pid)
		}
		all[first[name]] = append(all[first[name]], pid)
	}
	return all
}

// ask opens a netlink socket in the namespace for a request; nil is the one that
// netlink opens itself, in our own.
func (n network) ask(request *nl.NetlinkRequest, protocol int) (done func(), err error) {
	if n == 0 {
		return func() {}, nil
	}
	theirs, err := netns.GetFromPid(int(n))
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	socket, err := nl.GetNetlinkSocketAt(theirs, netns.None(), protocol)
	if err != nil {
		return nil, err
	}
	for _, limit := range []func(*unix.Timeval) error{socket.SetSendTimeout, socket.SetReceiveTimeout} {
		if err := limit(&nl.SocketTimeoutTv); err != nil {
			socket.Close()
			return nil, err
		}
	}
	request.Sockets = map[int]*nl.SocketHandle{protocol: {Socket: socket}}
	return socket.Close, nil
}

// proc is the folder that has the namespace's net.
func (n network) proc() (procfs.FS, error) {
	if n == 0 {
		return procfs.NewFS("/proc/thread-self")
	}
	return procfs.NewFS("/proc/" + strconv.Itoa(int(n)))
}
