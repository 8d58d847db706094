package fault

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/probe"
)

// ofNetwork are the faults of the network between the controller and nginx.
var ofNetwork = []Fault{
	{Name: "posts-refused", Doc: "Connections to nginx's internal port, to which the controller POSTs, are refused (RST). It needs root and nf_tables.", Strikes: "connections", Lasts: true, Root: true, Needs: Configuration,
		strike: func(v Victim, lasts time.Duration) (endFunc, error) {
			if v.StatusPort() == 0 {
				return nil, fmt.Errorf("%w: nginx's internal port is not known", ErrNotHere)
			}
			master, err := v.Master()
			if err != nil {
				return nil, err
			}
			return refusePort(v, master, uint16(v.StatusPort()), lasts)
		}},
}

// refusePort rejects all TCP connections to a port of 127.0.0.1 in the network of a process: the
// same port of another loopback address may be a pod's. The kernel forgets the port when the time
// is over, so that it does not stay refused if the harness is killed. The kernel counts as well: it
// refuses one packet of each connection, which then ends.
func refusePort(v Victim, pid int, port uint16, lasts time.Duration) (_ endFunc, err error) {
	network, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", pid))
	if errors.Is(err, os.ErrNotExist) { // the process has ended: that is not ErrNotHere
		return nil, fmt.Errorf("the network of nginx: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the network of nginx: %w", ErrNotHere, err)
	}
	defer func() {
		if err != nil {
			network.Close()
		}
	}()
	conn, err := nftables.New(nftables.WithNetNSFd(int(network.Fd())))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotHere, err)
	}
	sweep(conn)
	table := conn.AddTable(&nftables.Table{Name: fmt.Sprintf(tableName, os.Getpid(), port), Family: nftables.TableFamilyIPv4})
	ports := &nftables.Set{Table: table, Name: "refused", KeyType: nftables.TypeInetService, HasTimeout: true}
	if err := conn.AddSet(ports, []nftables.SetElement{{Key: binaryutil.BigEndian.PutUint16(port), Timeout: lasts}}); err != nil {
		return nil, fmt.Errorf("refusing port %d: %w", port, err)
	}
	chain := conn.AddChain(&nftables.Chain{
		Name: "input", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityFilter,
	})
	conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: append([]byte("lo"), make([]byte, unix.IFNAMSIZ-2)...)},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 16, Len: 4}, // the destination address
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{127, 0, 0, 1}},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2}, // the destination port
		&expr.Lookup{SourceRegister: 1, SetName: ports.Name, SetID: ports.ID},
		&expr.Counter{},
		&expr.Reject{Type: unix.NFT_REJECT_TCP_RST},
	}})
	if err := conn.Flush(); err != nil {
		return nil, fmt.Errorf("%w: refusing port %d: %w", ErrNotHere, port, err)
	}
	return func() int {
		defer network.Close()
		struck, err := refused(conn, chain)
		if err != nil {
			v.Trouble("how many connections were refused is not known", err.Error())
		}
		conn.DelTable(table)
		conn.Flush() // if it stays, it has no effect after the time is over
		return struck
	}, nil
}

// refused returns the packet counter of the rule in a chain.
func refused(conn *nftables.Conn, chain *nftables.Chain) (int, error) {
	rules, err := conn.GetRules(chain.Table, chain)
	if err != nil {
		return 0, err
	}
	for _, rule := range rules {
		for _, part := range rule.Exprs {
			if counter, ok := part.(*expr.Counter); ok {
				return int(counter.Packets), nil
			}
		}
	}
	return 0, errors.New("the rule that refuses them is gone")
}

// tableName has the PID of the harness that made the table, and the port.
const tableName = "windtunnel-%d-%d"

// sweep deletes the tables that killed harnesses left behind. Those that it cannot delete have no
// effect any more.
func sweep(conn *nftables.Conn) {
	tables, _ := conn.ListTablesOfFamily(nftables.TableFamilyIPv4)
	for _, table := range tables {
		var pid, port int
		if n, _ := fmt.Sscanf(table.Name, tableName, &pid, &port); n == 2 && !probe.Exists(pid) {
			conn.DelTable(table)
		}
	}
	conn.Flush()
}
