package apply

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// streamPath stands for the stream port in a report, where a POST has its path.
const streamPath = "stream"

// sendStream tells nginx's stream block of the endpoints of TCP and UDP
// services: a line of JSON, behind the secret where there is one, to which Lua
// answers only when it did not take it.
func (t *Target) sendStream(ctx context.Context, line []byte, report *Report) error {
	proven := line
	if t.secret != "" {
		proven = fmt.Appendf(nil, "Bearer %s %s", t.secret, line)
	}
	return t.repeat(ctx, streamPath, line, report, func(ctx context.Context) error { return send(ctx, t.stream, proven) })
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
	said, err := io.ReadAll(io.LimitReader(conn, 256))
	if err != nil {
		return err
	}
	if answer := strings.TrimSpace(string(said)); answer != "" {
		return fmt.Errorf("nginx answered %s", answer)
	}
	return nil
}
