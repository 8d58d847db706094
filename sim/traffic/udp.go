package traffic

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"windtunnel.dev/sim/backend"
)

// datagrams is the client of a UDP service: one datagram from a socket of its
// own, and one in answer. Nothing tells of one that is lost but that the
// answer does not come.
var datagrams = lane{
	name: "udp",
	doc:  "a datagram to a UDP service from a new socket, and an answer; no answer within a second is a `timeout`",
	door: UDP,
	talk: func(_ context.Context, c net.Conn, _ Attack) content { return exchangeDatagram(c, "message 1", 0) },
}

// waiting is the same with a pod that takes Attack.Last to answer, as a
// resolver that has to ask elsewhere does. Whatever no longer passes the answer
// on, as a worker of nginx that was told to finish meanwhile, shows here.
var waiting = lane{
	name: "udp-slow",
	doc:  "a datagram to a UDP service from a new socket; the pod answers after `last`. No answer a second after that is a `timeout`",
	door: UDP,
	talk: func(_ context.Context, c net.Conn, a Attack) content {
		return exchangeDatagram(c, fmt.Sprintf("%s%v message 1", backend.AnswerAfter, a.Last), a.Last)
	},
	lasts: true,
}

// lost is when a datagram whose answer is due counts as lost: on loopback an
// answer comes within milliseconds or never.
const lost = time.Second

func exchangeDatagram(c net.Conn, said string, due time.Duration) (got content) {
	if _, got.err = io.WriteString(c, said); got.err != nil {
		return got
	}
	patience := time.AfterFunc(due+lost, func() { c.SetReadDeadline(time.Unix(1, 0)) })
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
	got.flaw = echoes(got.identity, []byte(said), nil)
	return got
}
