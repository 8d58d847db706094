package announce

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// open returns an announcer with the connections of some workers, which have read their first
// announcement.
func open(t *testing.T, workers int) (*Announcer, []net.Conn) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "socket")
	a, err := Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	var all []net.Conn
	for range workers {
		connection, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		all = append(all, connection)
	}
	await(t, a, workers)
	for _, connection := range all {
		hear(t, connection)
	}
	return a, all
}

// hear reads one announcement.
func hear(t *testing.T, worker net.Conn) {
	t.Helper()
	worker.SetReadDeadline(time.Now().Add(20 * time.Second)) //nolint:errcheck // the read then fails
	if _, err := io.ReadFull(worker, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, a *Announcer, listeners int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); a.Listeners() != listeners; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d listeners, want %d", a.Listeners(), listeners)
		}
	}
}

func TestAnnouncementsReachAllWorkers(t *testing.T) {
	a, workers := open(t, 3)
	for range 2 {
		a.Announce()
		for _, worker := range workers {
			hear(t, worker)
		}
	}
	workers[1].Close()
	await(t, a, 2)
	a.Announce()
	hear(t, workers[2])
}

// A change may be announced after a worker connects, and before its connection is accepted.
func TestNewWorkerHearsEarlierChanges(t *testing.T) {
	a, _ := open(t, 0)
	a.Announce()
	worker, err := net.Dial("unix", a.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	hear(t, worker)
}

func TestWorkerThatDoesNotReadIsDisconnected(t *testing.T) {
	a, _ := open(t, 1)
	for a.Listeners() == 1 {
		a.Announce()
	}
}

func TestClose(t *testing.T) {
	a, workers := open(t, 1)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := workers[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("%d, %v: the connection of a worker is open", n, err)
	}
	a.Announce()
	if _, err := net.Dial("unix", a.listener.Addr().String()); err == nil {
		t.Error("the socket accepts connections")
	}
}

func TestNoAnnouncer(t *testing.T) {
	var none *Announcer
	none.Announce()
	if err := none.Close(); err != nil {
		t.Error(err)
	}
}
