package traffic

import (
	"context"
	"fmt"
	"net"

	"windtunnel.dev/sim/backend"
)

// udpSlowLane is like udpLane, but the pod answers after Attack.Last, like a resolver that
// has to ask another server. It shows when a proxy no longer forwards the answer, for example
// because nginx told the worker to finish in the meantime.
var udpSlowLane = lane{
	name:     "udp-slow",
	doc:      "a datagram to a UDP service from a new socket; the pod answers after `last`. No answer a second after that is a `timeout`",
	listener: UDP,
	lasts:    true,
	exchange: func(_ context.Context, c net.Conn, a Attack) content {
		return exchangeDatagram(c, fmt.Sprintf("%s%v message 1", backend.AnswerAfter, a.Last), a.Last)
	},
}
