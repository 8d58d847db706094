package sharedlistener

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

const (
	// mostEntries limits the open addresses of a process: its 150,000 pods per cluster with two TCP
	// ports and one UDP port each, for two clusters. Only existing entries use memory.
	mostEntries = 1 << 20
	// mostSockets limits the shared sockets of a process.
	mostSockets = 1 << 12
)

// entry is the key of an open address: as the program builds it, in the byte order of the machine,
// except for the address.
type entry struct {
	Address  [4]byte
	Port     uint16
	Protocol uint16 // IPPROTO_TCP or IPPROTO_UDP
}

// table holds the attached program of this process, and its maps.
type table struct {
	entries *ebpf.Map // entry to slot
	sockets *ebpf.Map // slot to socket
	program *ebpf.Program
	link    *link.NetNsLink

	mu    sync.Mutex
	slots [mostSockets]bool // whether each is in use
}

// attached holds the table of this process while it is in use.
var attached struct {
	mu    sync.Mutex
	table *table
	users int
}

// acquire returns the table of this process until release.
func acquire() (*table, error) {
	attached.mu.Lock()
	defer attached.mu.Unlock()
	if attached.table == nil {
		t, err := attach()
		if err != nil {
			return nil, err
		}
		attached.table = t
	}
	attached.users++
	return attached.table, nil
}

// release detaches the program if nobody uses the table any more.
func (t *table) release() {
	attached.mu.Lock()
	defer attached.mu.Unlock()
	attached.users--
	if attached.users == 0 {
		attached.table.close()
		attached.table = nil
	}
}

// attach creates the maps and attaches the program.
func attach() (_ *table, err error) {
	t := new(table)
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if err := rlimit.RemoveMemlock(); err != nil { // before Linux 5.11, maps count as locked memory
		return nil, unsupported("raise the limit of locked memory", err)
	}
	// BPF_F_NO_PREALLOC: only existing entries use memory.
	if t.entries, err = ebpf.NewMap(&ebpf.MapSpec{Name: "open_addresses", Type: ebpf.Hash, KeySize: 8, ValueSize: 4, MaxEntries: mostEntries, Flags: unix.BPF_F_NO_PREALLOC}); err != nil {
		return nil, unsupported("create a map of addresses", err)
	}
	if t.sockets, err = ebpf.NewMap(&ebpf.MapSpec{Name: "shared_sockets", Type: ebpf.SockMap, KeySize: 4, ValueSize: 8, MaxEntries: mostSockets}); err != nil {
		return nil, unsupported("create a map of sockets", err)
	}
	if t.program, err = ebpf.NewProgram(lookup(t.entries, t.sockets)); err != nil {
		return nil, unsupported("load a program for the socket lookup", err)
	}
	namespace, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("share a socket: %w", err)
	}
	defer namespace.Close()
	if t.link, err = link.AttachNetNs(int(namespace.Fd()), t.program); err != nil {
		return nil, unsupported("attach a program to the network namespace", err)
	}
	return t, nil
}

// close detaches the program. It ignores errors, because the kernel detaches the program when the process
// ends.
func (t *table) close() {
	if t.link != nil {
		t.link.Close()
	}
	t.program.Close()
	t.sockets.Close()
	t.entries.Close()
}

// add puts a socket into a slot of its own.
func (t *table) add(socket syscall.Conn) (slot uint32, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ; slot < mostSockets; slot++ {
		if t.slots[slot] {
			continue
		}
		if err := onSocket(socket, func(fd int) error { return t.sockets.Put(slot, uint64(fd)) }); err != nil {
			return 0, unsupported("put a socket into a map", err)
		}
		t.slots[slot] = true
		return slot, nil
	}
	return 0, fmt.Errorf("share a socket: this process shares %d already", mostSockets)
}

// remove frees a slot.
func (t *table) remove(slot uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sockets.Delete(slot) // fails if the socket is closed, because closing removes it from the map
	t.slots[slot] = false
}

// open makes the kernel pass connections and datagrams for an address to a socket.
func (t *table) open(e entry, slot uint32) error {
	switch err := t.entries.Update(e, slot, ebpf.UpdateNoExist); {
	case errors.Is(err, ebpf.ErrKeyExist):
		return inUse(e)
	case errors.Is(err, unix.E2BIG):
		return fmt.Errorf("share a socket: all of the %d addresses that this process can open are open", mostEntries)
	case err != nil:
		return fmt.Errorf("share a socket: open an address: %w", err)
	}
	return nil
}

// shut undoes open.
func (t *table) shut(e entry) error {
	if err := t.entries.Delete(e); err != nil {
		return fmt.Errorf("share a socket: shut an address: %w", err)
	}
	return nil
}
