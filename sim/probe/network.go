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

// network is a network namespace, given as the PID of a process in it; 0 is our own. The kernel
// lists the sockets of one namespace at a time, and a container has a namespace of its own.
type network int

// networks groups processes by their network namespace. It leaves out those that have ended.
func networks(pids []int) map[network][]int {
	own, _ := os.Readlink("/proc/thread-self/ns/net") // other threads may be in another namespace for a moment, but not this one
	all := map[network][]int{}
	first := map[string]network{own: 0}
	for _, pid := range pids {
		name, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
		if err != nil {
			if gone(err) {
				continue
			}
			name = own // no permission; the code that reads its files reports that
		}
		if _, known := first[name]; !known {
			first[name] = network(pid)
		}
		all[first[name]] = append(all[first[name]], pid)
	}
	return all
}

// ask opens a netlink socket in the namespace for a request. In our own namespace, netlink opens
// one itself.
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

// proc returns the directory of /proc with the namespace's net directory.
func (n network) proc() (procfs.FS, error) {
	if n == 0 {
		return procfs.NewFS("/proc/thread-self")
	}
	return procfs.NewFS("/proc/" + strconv.Itoa(int(n)))
}
