package run

import (
	"bytes"
	"io"
	"net"
	"testing"
)

// The PROXY header is part of the first write: an nginx that does not expect it would otherwise
// answer before the request is sent.
func TestPROXYHeaderIsSentWithTheRequest(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go func() {
		defer ours.Close()
		connection := &announced{Conn: ours, header: []byte("PROXY ")}
		for _, text := range []string{"GET ", "/ "} {
			if n, err := io.WriteString(connection, text); n != len(text) || err != nil {
				t.Errorf("%q: wrote %d bytes: %v", text, n, err)
			}
		}
	}()
	var writes [][]byte
	for {
		buffer := make([]byte, 64)
		n, err := theirs.Read(buffer)
		if err != nil {
			break
		}
		writes = append(writes, buffer[:n])
	}
	if got := string(bytes.Join(writes, []byte("|"))); got != "PROXY GET |/ " {
		t.Errorf("writes: %q", got)
	}
}
