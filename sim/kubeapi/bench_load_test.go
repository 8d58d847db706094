package kubeapi

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"windtunnel.dev/sim/kubeapi/load"
)

// dialPutter connects a Putter for the slice with this name.
func dialPutter(b *testing.B, p process, name, mediaType string) *load.Putter {
	b.Helper()
	conn, err := net.Dial("tcp", p.address())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	putter, err := load.NewPutter(conn, load.Slice("default", name, 10), mediaType, benchToken)
	if err != nil {
		b.Fatal(err)
	}
	return putter
}

// pace delays the n-th write to its scheduled time; a rate of 0 means as fast as possible.
type pace struct {
	start time.Time
	rate  int
}

func (p pace) wait(n int64) {
	if p.rate > 0 {
		time.Sleep(time.Until(p.start.Add(time.Duration(n) * time.Second / time.Duration(p.rate))))
	}
}

func puts(putters []*load.Putter) (all []func(int64) error) {
	for _, p := range putters {
		all = append(all, p.Put)
	}
	return all
}

// writeAll makes n writes with all writers in parallel, at a rate.
func writeAll(b *testing.B, writers []func(int64) error, n int, rate int, next *atomic.Int64) {
	var writing sync.WaitGroup
	clock, first := pace{time.Now(), rate}, next.Load()
	for _, write := range writers {
		writing.Go(func() {
			for {
				number := next.Add(1)
				if number > first+int64(n) {
					return
				}
				clock.wait(number - first)
				if err := write(number); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	next.Store(first + int64(n))
}

// dialWatcher watches all slices from version rv.
func dialWatcher(b *testing.B, p process, rv string) *load.Watcher {
	b.Helper()
	conn, err := net.Dial("tcp", p.address())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	watcher, err := load.NewWatcher(conn.(*net.TCPConn), rv, benchToken)
	if err != nil {
		b.Fatal(err)
	}
	return watcher
}
