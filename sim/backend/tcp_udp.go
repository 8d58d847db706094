package backend

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"windtunnel.dev/internal/sharedlistener"
)

// streamListener is where a pod answers over bare TCP and UDP, on the same port number of both. It
// answers each line of a connection, and each datagram, with the identity as JSON, which has the
// checksum of that line or datagram. It answers a datagram that begins with AnswerAfter that much
// later.
type streamListener struct {
	tcp net.Listener
	udp net.PacketConn
}

// StreamSockets is the number of sockets with which a pod listens on its StreamPort: one for TCP, one
// for UDP.
const StreamSockets = 2

// AnswerAfter begins a datagram that is to be answered later. A duration and a space follow, for
// example "answer after 200ms ".
const AnswerAfter = "answer after "

// maxDatagram is the size of the longest datagram that a pod reads, in bytes; nginx's proxy has the
// same bound.
const maxDatagram = 1 << 16

func listenStream(at netip.AddrPort) (*streamListener, error) {
	tcp, err := net.Listen(family("tcp", at), at.String())
	if err != nil {
		return nil, err
	}
	udp, err := net.ListenPacket(family("udp", at), at.String())
	if err != nil {
		tcp.Close()
		return nil, err
	}
	return &streamListener{tcp: tcp, udp: udp}, nil
}

func (s *streamListener) close() {
	if s != nil {
		s.tcp.Close()
		s.udp.Close()
	}
}

func (p *pod) StreamAddr() netip.AddrPort {
	return netip.AddrPortFrom(p.address.Addr(), uint16(p.context.streamPort))
}

func (p *pod) serveStream(s *streamListener) {
	go p.answerDatagrams(s.udp)
	p.untilClosed(func() error {
		c, err := s.tcp.Accept()
		if err == nil {
			go p.answerLines(c)
		}
		return err
	})
}

func (p *pod) untilClosed(do func() error) {
	sharedlistener.UntilClosed(func(err error) {
		p.trouble(fmt.Errorf("port %d of TCP and UDP: %w%s", p.context.streamPort, err, remedy(err)))
	}, do)
}

// answerLines answers until the client closes the connection, or the pod is gone.
func (p *pod) answerLines(c net.Conn) {
	defer c.Close()
	if !p.connections.begin() {
		return
	}
	defer p.connections.active.Done()
	stop := p.connections.onEnd(func() { c.Close() })
	defer stop()
	for lines := bufio.NewScanner(c); lines.Scan(); {
		if _, err := c.Write(append(p.answerTo(lines.Bytes()), '\n')); err != nil {
			return
		}
	}
}

func (p *pod) answerDatagrams(c net.PacketConn) {
	buffer := make([]byte, maxDatagram)
	p.untilClosed(func() error {
		n, from, err := c.ReadFrom(buffer)
		if err != nil {
			return err
		}
		answer := p.answerTo(buffer[:n])
		send := func() { c.WriteTo(answer, from) } // it fails only if the client or the pod has gone
		if wait := answerAfter(string(buffer[:n])); wait > 0 {
			time.AfterFunc(wait, send)
		} else {
			send()
		}
		return nil
	})
}

// answerAfter returns how much later a datagram is to be answered: 0 if it does not give a valid time.
func answerAfter(datagram string) time.Duration {
	rest, asks := strings.CutPrefix(datagram, AnswerAfter)
	if !asks {
		return 0
	}
	text, _, _ := strings.Cut(rest, " ")
	wait, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return min(wait, maxTime)
}

func (p *pod) answerTo(message []byte) []byte {
	sum := sha256.Sum256(message)
	return encoded(p.identity(hex.EncodeToString(sum[:])))
}
