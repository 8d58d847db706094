package kubeapi

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"windtunnel.dev/sim/kubeapi/load"
)

// dialPutter connects what changes the slice of this name.
func dialPutter(b *testing.B, p process, name, mediaType string) *load.Putter {
	b.Helper()
	conn, err := net.Dial("tcp", p.address())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	putter, err := load.NewPutter(conn, load.Slice("default", name, 10), mediaType, "")
	if err != nil {
		b.Fatal(err)
	}
	return putter
}

// pace lets the n-th write of many go at its time; a rate of 0 is as fast as can be.
type pace struct {
	start time.Time
	rate  int
}

func (p pace) wait(n int64) {
	if p.rate > 0 {
		time.Sleep(time.Until(p.start.Add(time.Duration(n) * time.Second / time.Duration(p.rate))))
	}
}

// putAll makes n changes over the putters at once, at a rate.
func putAll(b *testing.B, putters []*load.Putter, n int, rate int, next *atomic.Int64) {
	var writing sync.WaitGroup
	clock, first := pace{time.Now(), rate}, next.Load()
	for _, p := range putters {
		writing.Go(func() {
			for {
				number := next.Add(1)
				if number > first+int64(n) {
					return
				}
				clock.wait(number - first)
				if err := p.Put(number); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	next.Store(first + int64(n))
}

// reader reads as much at a time as a stream writes.
var reader = &http.Client{Transport: &http.Transport{ReadBufferSize: 64 << 10}}

// openWatch watches all slices in protobuf from version rv.
func openWatch(b *testing.B, url, rv string) io.ReadCloser {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), "GET", url+"/apis/discovery.k8s.io/v1/endpointslices?watch=1&resourceVersion="+rv, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", protobufType)
	resp, err := reader.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { resp.Body.Close() })
	return resp.Body
}

// drain reads n frames; the stream must not end before.
func drain(b *testing.B, body *bufio.Reader, n int) {
	for i := range n {
		var size [4]byte
		if _, err := io.ReadFull(body, size[:]); err != nil {
			b.Errorf("after %d of %d events: %v", i, n, err)
			return
		}
		if _, err := body.Discard(int(binary.BigEndian.Uint32(size[:]))); err != nil {
			b.Errorf("in event %d of %d: %v", i, n, err)
			return
		}
	}
}
