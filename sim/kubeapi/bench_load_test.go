package kubeapi

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The load of the benchmarks costs as little as can be, for it runs on the
// processors of the server: requests made beforehand, answers skipped unread.

const (
	slicesPath = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
	mark       = "node-0000000000" // in each request the digits are a number of its own
	digits     = 10
)

// fullSlice has what the endpointslice controller writes for pods; ten endpoints make 2.6 KB of JSON.
func fullSlice(name string, endpoints int) *discoveryv1.EndpointSlice {
	s := slice(name, endpoints)
	s.TypeMeta = metav1.TypeMeta{Kind: "EndpointSlice", APIVersion: "discovery.k8s.io/v1"}
	s.Namespace = "default"
	s.Labels["endpointslice.kubernetes.io/managed-by"] = "endpointslice-controller.k8s.io"
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		e.Conditions.Serving, e.Conditions.Terminating = new(true), new(false)
		e.NodeName, e.Zone = new(mark), new("zone-a")
		e.TargetRef.UID = types.UID(fmt.Sprintf("0e4f9f4e-8d4b-4f67-9f0d-%012d", i))
	}
	return s
}

// putter sends one PUT after the other on a connection of its own.
type putter struct {
	conn    net.Conn
	answers *bufio.Reader
	request []byte
	number  []byte // the digits inside request
}

func newPutter(b *testing.B, address, name, mediaType string) *putter {
	b.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	body := encodeFor(b, fullSlice(name, 10), mediaType)
	request := fmt.Appendf(nil, "PUT %s/%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nContent-Type: %s\r\nAccept: %s\r\nContent-Length: %d\r\n\r\n%s",
		slicesPath, name, address, mediaType, mediaType, len(body), body)
	at := bytes.Index(request, []byte(mark)) + len(mark) - digits
	return &putter{conn, bufio.NewReaderSize(conn, 16<<10), request, request[at : at+digits]}
}

func encodeFor(b *testing.B, obj *discoveryv1.EndpointSlice, mediaType string) []byte {
	b.Helper()
	var body []byte
	var err error
	if mediaType == protobufType {
		body, err = protobufCodec{}.value(obj)
	} else {
		body, err = json.Marshal(obj)
	}
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// put makes a change that no other has made.
func (p *putter) put(n int64) error {
	for i := digits - 1; i >= 0; i-- {
		p.number[i] = byte('0' + n%10)
		n /= 10
	}
	if _, err := p.conn.Write(p.request); err != nil {
		return err
	}
	return skipAnswer(p.answers)
}

var lengthHeader = []byte("Content-Length: ")

func skipAnswer(r *bufio.Reader) error {
	status, err := r.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 2")) {
		return fmt.Errorf("answer %q", status)
	}
	length := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if rest, ok := bytes.CutPrefix(line, lengthHeader); ok {
			for _, c := range bytes.TrimSpace(rest) {
				length = 10*length + int(c-'0')
			}
		}
		if len(line) == 2 {
			_, err := r.Discard(length)
			return err
		}
	}
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
func putAll(b *testing.B, putters []*putter, n int, rate int, next *atomic.Int64) {
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
				if err := p.put(number); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	next.Store(first + int64(n))
}

// openWatch watches all slices in protobuf from version rv.
func openWatch(b *testing.B, url, rv string) io.ReadCloser {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), "GET", url+"/apis/discovery.k8s.io/v1/endpointslices?watch=1&resourceVersion="+rv, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept", protobufType)
	resp, err := http.DefaultClient.Do(req)
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
