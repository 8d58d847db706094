package kubeapi

import (
	"net"
	"testing"
)

// recorder notes what is written to a connection, write by write.
type recorder struct {
	net.Conn
	writes []string
}

func (r *recorder) Write(b []byte) (int, error) {
	r.writes = append(r.writes, string(b))
	return len(b), nil
}

func TestCorkWritesAtOnce(t *testing.T) {
	under := &recorder{}
	c := &corkConn{Conn: under}
	write := func(texts ...string) {
		for _, text := range texts {
			if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
				t.Fatal(n, err)
			}
		}
	}
	write("a", "b")
	c.cork()
	write("c", "d", "e")
	if n := len(under.writes); n != 2 {
		t.Errorf("%d writes went through the cork", n-2)
	}
	for range 2 { // the second finds nothing
		if err := c.uncork(); err != nil {
			t.Error(err)
		}
	}
	write("f")
	if got := under.writes; len(got) != 4 || got[2] != "cde" {
		t.Errorf("written: %q", got)
	}
}

// A connection is corked below TLS, too; one that others share is not.
func TestCorkIsFound(t *testing.T) {
	inner := &corkConn{}
	for _, test := range []struct {
		conn  net.Conn
		proto int
		want  *corkConn
	}{{inner, 1, inner}, {over{inner}, 1, inner}, {inner, 2, nil}, {&net.TCPConn{}, 1, nil}} {
		if got := corkOf(test.conn, test.proto); got != test.want {
			t.Errorf("%T over HTTP/%d: %p, want %p", test.conn, test.proto, got, test.want)
		}
	}
}

// over stands for TLS.
type over struct{ net.Conn }

func (o over) NetConn() net.Conn { return o.Conn }
