package traffic

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"time"

	"windtunnel.dev/sim/backend"
)

// tcpLane connects to a TCP service for Attack.Last. Every streamInterval it sends a line to
// the pod and reads the answer. Then the client closes the connection; an earlier end cuts it.
var tcpLane = lane{
	name:     "tcp",
	doc:      "a connection to a TCP service for `last`; every 100 ms a line goes to the pod and back",
	listener: TCP,
	lasts:    true,
	stream:   true,
	exchange: exchangeLines,
}

func exchangeLines(ctx context.Context, c net.Conn, a Attack) (got content) {
	ticker := time.NewTicker(streamInterval)
	defer ticker.Stop()
	answers := bufio.NewReader(c)
	for end := time.Now().Add(a.Last); time.Now().Before(end); {
		sent := fmt.Appendf(nil, "message %d", got.messages+1)
		if _, got.err = c.Write(append(sent, '\n')); got.err != nil {
			return got
		}
		answer, err := answers.ReadBytes('\n')
		if err != nil {
			got.err = err
			return got
		}
		got.messages++
		if got.flaw = checkEcho(answer, sent, got.identity); got.flaw != "" {
			return got
		}
		got.identity = answer
		select {
		case <-ticker.C:
		case <-ctx.Done():
			got.err = context.Cause(ctx)
			return got
		}
	}
	return got
}

// checkEcho returns what is wrong with the answer to a message, or "". An earlier answer of
// the same connection, if there is one, must come from the same pod.
func checkEcho(answer, sent, earlier []byte) string {
	identity, err := backend.ParseIdentity(answer)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(sent)
	if want := hex.EncodeToString(sum[:]); identity.Body != want {
		return fmt.Sprintf("the pod got a message with checksum %s, sent was %s", identity.Body, want)
	}
	if before, err := backend.ParseIdentity(earlier); err == nil && before.Pod != identity.Pod {
		return fmt.Sprintf("%s answered in the connection of %s", identity.Pod, before.Pod)
	}
	return ""
}
