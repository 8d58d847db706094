package fault

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"

	"windtunnel.dev/internal/port"
)

// While the fault lasts, connections are refused although the port listens. Another port, and the
// same port of another address, are not affected. Afterwards, connections work again.
func TestPostsRefused(t *testing.T) {
	listen := func(host string, port int) string {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	free, err := port.Free(2) // not ports that the kernel may give to other tests
	if err != nil {
		t.Fatal(err)
	}
	status, other, pod := listen("127.0.0.1", free), listen("127.0.0.1", free+1), listen("127.202.0.1", free)
	dial := func(address string) error {
		conn, err := net.DialTimeout("tcp", address, time.Minute)
		if err == nil {
			conn.Close()
		}
		return err
	}
	f, _ := Find("posts-refused")
	struck := -1
	heal, err := f.Strike(t.Context(), &patient{port: free, master: os.Getpid()}, time.Hour, func(n int) { struck = n })
	if errors.Is(err, ErrNotHere) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := dial(status); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("while posts are refused: %v", err)
	}
	if err := dial(other); err != nil {
		t.Errorf("another port: %v", err)
	}
	if err := dial(pod); err != nil {
		t.Errorf("the same port of another address: %v", err)
	}
	heal()
	if struck != 1 {
		t.Errorf("struck %d connections, want 1", struck)
	}
	if err := dial(status); err != nil {
		t.Errorf("after it healed: %v", err)
	}
}

// If the master has ended, the error is not ErrNotHere.
func TestPostsRefusedWithoutAMaster(t *testing.T) {
	f, _ := Find("posts-refused")
	if f.Allowed() != nil {
		t.Skip(f.Allowed())
	}
	if _, err := f.Strike(t.Context(), &patient{port: 1, master: dead(t)}, time.Hour, func(int) {}); err == nil || errors.Is(err, ErrNotHere) {
		t.Errorf("got %v", err)
	}
}

// The fault removes tables of killed harnesses, but not those of living ones.
func TestPostsRefusedSweeps(t *testing.T) {
	conn, err := nftables.New()
	if err != nil {
		t.Skip(err)
	}
	table := func(pid int) *nftables.Table {
		table := conn.AddTable(&nftables.Table{Name: fmt.Sprintf(tableName, pid, 1), Family: nftables.TableFamilyIPv4})
		if err := conn.Flush(); err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { conn.DelTable(table); conn.Flush() })
		return table
	}
	left, living := table(dead(t)), table(os.Getppid())
	f, _ := Find("posts-refused")
	heal, err := f.Strike(t.Context(), &patient{port: 1, master: os.Getpid()}, time.Hour, func(int) {})
	if errors.Is(err, ErrNotHere) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer heal()
	tables, err := conn.ListTables()
	if err != nil {
		t.Fatal(err)
	}
	there := func(name string) bool {
		return slices.ContainsFunc(tables, func(t *nftables.Table) bool { return t.Name == name })
	}
	if there(left.Name) || !there(living.Name) {
		t.Errorf("the table of a dead harness exists: %t; that of a running one: %t", there(left.Name), there(living.Name))
	}
}

func TestPostsRefusedNeedsAPort(t *testing.T) {
	f, _ := Find("posts-refused")
	if _, err := f.Strike(t.Context(), &patient{}, time.Hour, func(int) {}); !errors.Is(err, ErrNotHere) {
		t.Errorf("got %v", err)
	}
}
