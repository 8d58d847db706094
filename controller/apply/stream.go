package apply

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// streamPath represents the stream port in reports, in place of a POST path.
const streamPath = "stream"

// sendStream sends the endpoints of TCP and UDP services to nginx's stream block: the secret, if
// there is one, then one line of JSON. Lua answers only if it rejects the line.
func (t *Target) sendStream(ctx context.Context, line []byte, report *Report) error {
	defer t.announcer.Announce()
	message := line
	if t.secret != "" {
		message = fmt.Appendf(nil, "Bearer %s %s", t.secret, line)
	}
	return t.repeat(ctx, streamPath, line, report, func(ctx context.Context) error { return send(ctx, t.stream, message) })
}

func send(ctx context.Context, address string, line []byte) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetDeadline(time.Now().Add(control.Timeout)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "%s\r\n", line); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(conn, 256))
	if err != nil {
		return err
	}
	if answer := strings.TrimSpace(string(text)); answer != "" {
		return &streamError{answer}
	}
	return nil
}
