package backend

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fcgiRecord returns a record of request 1, with padding.
func fcgiRecord(kind byte, content string) []byte {
	record := []byte{1, kind, 0, 1, 0, 0, 3, 0}
	binary.BigEndian.PutUint16(record[4:], uint16(len(content)))
	return append(append(record, content...), 0, 0, 0)
}

// fcgiRequest returns the records of a request, without the end of its body. An empty body is its own end.
func fcgiRequest(keep bool, body string, params ...string) []byte {
	begin := []byte{0, 1, 0, 0, 0, 0, 0, 0} // a responder
	if keep {
		begin[2] = 1
	}
	var pairs []byte
	for i := 0; i < len(params); i += 2 {
		for _, text := range params[i : i+2] {
			if len(text) < 0x80 {
				pairs = append(pairs, byte(len(text)))
			} else {
				pairs = binary.BigEndian.AppendUint32(pairs, uint32(len(text))|1<<31)
			}
		}
		pairs = append(pairs, params[i]+params[i+1]...)
	}
	half := len(pairs) / 2 // a pair may be spread over two records
	request := fcgiRecord(fcgiBegin, string(begin))
	request = append(request, fcgiRecord(fcgiParams, string(pairs[:half]))...)
	request = append(request, fcgiRecord(fcgiParams, string(pairs[half:]))...)
	request = append(request, fcgiRecord(fcgiParams, "")...)
	return append(request, fcgiRecord(fcgiStdin, body)...)
}

const (
	fcgiStdin  = 5
	fcgiStdout = 6
)

// fcgiAnswer reads the records of an answer and returns what the pod wrote.
func fcgiAnswer(from io.Reader) (string, error) {
	var text strings.Builder
	for {
		var header [fcgiHeader]byte
		if _, err := io.ReadFull(from, header[:]); err != nil {
			return text.String(), err
		}
		content := make([]byte, int(binary.BigEndian.Uint16(header[4:]))+int(header[6]))
		if _, err := io.ReadFull(from, content); err != nil {
			return text.String(), err
		}
		switch header[1] {
		case fcgiStdout:
			text.Write(content[:len(content)-int(header[6])])
		case fcgiEnd:
			return text.String(), nil
		}
	}
}

var fcgiPost = []string{"REQUEST_METHOD", "POST", "SERVER_PROTOCOL", "HTTP/1.1", "REQUEST_URI", "/a%2Fb?x=1", "SCRIPT_NAME", "/index.php",
	"PATH_INFO", "/b", "HTTP_HOST", "web.example", "HTTP_X_LONG", strings.Repeat("l", 300), "CONTENT_LENGTH", "3", "HTTPS", "on"}

func TestFastCGI(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Protocol: FastCGI, Rules: []Rule{{Path: "/gone", Answer: Answer{Status: 410, Body: []byte("gone"), Headers: map[string][]string{"X-A": {"1", "2"}}}}}})
	conn := dial(t, p)
	want := map[string]string{}
	for i := 0; i < len(fcgiPost); i += 2 {
		want[fcgiPost[i]] = fcgiPost[i+1]
	}
	for n := range 2 { // over one connection
		conn.Write(append(fcgiRequest(true, "abc", fcgiPost...), fcgiRecord(fcgiStdin, "")...))
		answer, err := fcgiAnswer(conn)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(answer, "\r\n\r\n")
		d := described(t, body)
		if !strings.HasPrefix(head, "Status: 200 OK\r\n") || d.Identity.Body != sumOfABC || d.Path != "/a%2Fb?x=1" || d.Protocol != "FastCGI" || d.Request != n+1 {
			t.Errorf("%s\n%+v", head, d)
		}
		if diff := cmp.Diff(want, d.Params); diff != "" {
			t.Errorf("parameters (-want +got):\n%s", diff)
		}
	}
	// Nothing may follow the end of this request: a connection that is closed with unread data is reset.
	conn.Write(fcgiRequest(false, "", "REQUEST_METHOD", "GET", "SERVER_PROTOCOL", "HTTP/1.0", "REQUEST_URI", "/gone"))
	answer, err := fcgiAnswer(conn)
	if err != nil || !strings.HasPrefix(answer, "Status: 410 Gone\r\n") || !strings.HasSuffix(answer, "\r\n\r\ngone") || !strings.Contains(answer, "X-A: 1\r\nX-A: 2\r\n") {
		t.Errorf("%q, %v", answer, err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the connection was kept: %v", err)
	}
	got := received(t, f, 3)[0]
	if got.Host != "web.example" || got.Headers.Get("X-Long") == "" || got.Port != int(p.Addr().Port()) || string(got.Body) != "abc" || !got.Complete || got.TLSVersion != "" {
		t.Errorf("%+v", got)
	}
}

// TestFastCGIEndsAtOnce checks that a client which has the whole answer also has the end of the
// connection.
func TestFastCGIEndsAtOnce(t *testing.T) {
	p := scripted(t, recording(t), Script{Protocol: FastCGI})
	for range 200 {
		conn := dial(t, p)
		if _, err := conn.Write(append(fcgiRequest(false, "abc", fcgiPost...), fcgiRecord(fcgiStdin, "")...)); err != nil {
			t.Fatal(err)
		}
		if _, err := fcgiAnswer(conn); err != nil {
			t.Fatal(err)
		}
		raw, err := conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		var n int
		raw.Read(func(fd uintptr) bool {
			n, _, err = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			return true
		})
		if n != 0 || err != nil {
			t.Fatalf("the connection has not ended with the answer: %d bytes, %v", n, err)
		}
		conn.Close()
	}
}

func TestFastCGIBreaks(t *testing.T) {
	for how, want := range map[Break]error{Close: io.EOF, Reset: syscall.ECONNRESET} {
		f := recording(t)
		conn := dial(t, scripted(t, f, Script{Protocol: FastCGI, Answer: Answer{Break: how}}))
		conn.Write(append(fcgiRequest(true, "abc", fcgiPost...), fcgiRecord(fcgiStdin, "")...))
		if answer, err := fcgiAnswer(conn); !errors.Is(err, want) || answer != "" {
			t.Errorf("%s: %q, %v", how, answer, err)
		}
		received(t, f, 1)
	}
}

func TestFastCGIAbortedBody(t *testing.T) {
	f := recording(t)
	conn := dial(t, scripted(t, f, Script{Protocol: FastCGI}))
	conn.Write(fcgiRequest(false, "ab", fcgiPost...))
	conn.Close()
	if got := received(t, f, 1)[0]; got.Complete || string(got.Body) != "ab" || !strings.HasPrefix(got.Failure, "the body ended early: ") {
		t.Errorf("%+v", got)
	}
}

// A pod that is gone completes its last answer, and closes a connection that is kept but unused.
func TestFastCGIPodEnds(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Protocol: FastCGI})
	kept, busy := dial(t, p), dial(t, p)
	kept.Write(append(fcgiRequest(true, "abc", fcgiPost...), fcgiRecord(fcgiStdin, "")...))
	if _, err := fcgiAnswer(kept); err != nil {
		t.Fatal(err)
	}
	busy.Write(fcgiRequest(true, "ab", fcgiPost...))
	for got, _ := f.Received(1); len(got) == 0; got, _ = f.Received(1) {
		time.Sleep(time.Millisecond)
	}
	go p.Gone()
	if _, err := kept.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the unused connection: %v", err)
	}
	busy.Write(append(fcgiRecord(fcgiStdin, "c"), fcgiRecord(fcgiStdin, "")...))
	if answer, err := fcgiAnswer(busy); err != nil || !strings.Contains(answer, sumOfABC) {
		t.Errorf("%q, %v", answer, err)
	}
	<-p.Done()
	mustRefuse(t, p)
}

// Stop cuts a request that waits for its answer.
func TestFastCGIStop(t *testing.T) {
	f := recording(t)
	conn := dial(t, scripted(t, f, Script{Protocol: FastCGI, Answer: Answer{After: time.Minute}}))
	conn.Write(append(fcgiRequest(true, "", fcgiPost...), fcgiRecord(fcgiStdin, "")...))
	for got, _ := f.Received(0); len(got) == 0; got, _ = f.Received(0) {
		time.Sleep(time.Millisecond)
	}
	f.Stop()
	if got := received(t, f, 1)[0]; got.Failure == "" {
		t.Errorf("%+v", got)
	}
}

// No parameters make the pod fail.
func FuzzFastCGIParams(f *testing.F) {
	f.Add([]byte("\x01\x02abc"))
	f.Add([]byte{0x80, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 'a'})
	f.Fuzz(func(t *testing.T, encoded []byte) {
		c := fastcgiConn{encoded: encoded}
		for name, value := range c.params() {
			if len(name)+len(value) > len(encoded) {
				t.Errorf("%q is %q", name, value)
			}
		}
	})
}
