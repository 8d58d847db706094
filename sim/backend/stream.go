package backend

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
)

// streamListener is where a pod answers over TCP and UDP themselves, at one
// port of both: each line of a connection, and each datagram, with the identity
// as JSON, the checksum of what was sent in it. A datagram that begins with
// AnswerAfter is answered that much later.
type streamListener struct {
	tcp net.Listener
	udp net.PacketConn
}

// AnswerAfter, a duration and a space, such as "answer after 200ms ", go before
// what a datagram says where its answer is to take so long.
const AnswerAfter = "answer after "

// mostDatagram is the longest datagram that is read; nginx's proxy has the same bound.
const mostDatagram = 1 << 16

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
	return netip.AddrPortFrom(p.address.Addr(), uint16(p.home.streamPort))
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

// untilClosed repeats what a listener does until it is closed. After any other
// error, such as one file too many, it pauses, longer and longer, as net/http does:
// clients could connect all the same, and would wait for ever.
func (p *pod) untilClosed(do func() error) {
	const least, most = 5 * time.Millisecond, time.Second
	pause := least
	for {
		switch err := do(); {
		case err == nil:
			pause = least
		case errors.Is(err, net.ErrClosed):
			return
		default:
			p.trouble(fmt.Errorf("port %d of TCP and UDP: %w%s", p.home.streamPort, err, remedy(err)))
			time.Sleep(pause)
			pause = min(2*pause, most)
		}
	}
}

// answerLines ends with the client, or with the pod.
func (p *pod) answerLines(c net.Conn) {
	defer c.Close()
	if !p.streams.begin() {
		return
	}
	defer p.streams.active.Done()
	stop := p.streams.onEnd(func() { c.Close() })
	defer stop()
	for lines := bufio.NewScanner(c); lines.Scan(); {
		if _, err := c.Write(append(p.answerTo(lines.Bytes()), '\n')); err != nil {
			return
		}
	}
}

func (p *pod) answerDatagrams(c net.PacketConn) {
	buffer := make([]byte, mostDatagram)
	p.untilClosed(func() error {
		n, from, err := c.ReadFrom(buffer)
		if err != nil {
			return err
		}
		answer := p.answerTo(buffer[:n])
		send := func() { c.WriteTo(answer, from) } // an error is of a client that went away, or of a pod that did
		if wait := answerAfter(string(buffer[:n])); wait > 0 {
			time.AfterFunc(wait, send)
		} else {
			send()
		}
		return nil
	})
}

// answerAfter is how long a datagram asks for; what is no time asks for none.
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
	return min(wait, mostTime)
}

func (p *pod) answerTo(message []byte) []byte {
	sum := sha256.Sum256(message)
	return encoded(p.identity(hex.EncodeToString(sum[:])))
}
