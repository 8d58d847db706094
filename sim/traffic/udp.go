package traffic

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// datagrams is the client of a UDP service: one datagram from a socket of its
// own, and one in answer. Nothing tells of one that is lost but that the
// answer does not come.
var datagrams = lane{
	name: "udp",
	door: UDP,
	talk: exchangeDatagram,
}

// lost is when a datagram counts as lost: on loopback an answer comes within
// milliseconds or never.
const lost = time.Second

func exchangeDatagram(ctx context.Context, c net.Conn, _ Attack) (got content) {
	said := []byte("message 1")
	if _, got.err = c.Write(said); got.err != nil {
		return got
	}
	patience := time.AfterFunc(lost, func() { c.SetReadDeadline(time.Unix(1, 0)) })
	defer patience.Stop()
	buffer := make([]byte, 1<<16)
	n, err := c.Read(buffer)
	if err != nil {
		got.err = err
		return got
	}
	if n == 0 {
		// nginx ends a session whose pod refused with an empty datagram.
		got.err = fmt.Errorf("an empty datagram: %w", io.EOF)
		return got
	}
	got.identity = buffer[:n]
	got.messages = 1
	got.flaw = echoes(got.identity, said, nil)
	return got
}
