package traffic

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"
)

// udpLane sends one datagram to a UDP service from a new socket, and waits for one answer.
// A lost datagram shows only by the missing answer.
var udpLane = lane{
	name:     "udp",
	doc:      "a datagram to a UDP service from a new socket, and an answer; no answer within a second is a `timeout`",
	listener: UDP,
	exchange: func(_ context.Context, c net.Conn, _ Attack) content { return exchangeDatagram(c, "message 1", 0) },
}

// lostAfter is how long an answer may be overdue before it counts as lost: on loopback an
// answer comes within milliseconds or never.
const lostAfter = time.Second

// exchangeDatagram sends a datagram whose answer is due after that time.
func exchangeDatagram(c net.Conn, message string, due time.Duration) (got content) {
	if _, got.err = io.WriteString(c, message); got.err != nil {
		return got
	}
	patience := time.AfterFunc(due+lostAfter, func() { c.SetReadDeadline(time.Unix(1, 0)) })
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
	got.flaw = checkEcho(got.identity, []byte(message), nil)
	return got
}
