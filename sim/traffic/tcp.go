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

// lineByLine is the client of a TCP service: a connection for Attack.Last, over
// which a line goes to the pod and its answer comes back in each tenth of a
// second. Then the client closes it; whatever ends it before cuts it.
var lineByLine = lane{
	name:   "tcp",
	doc:    "a connection to a TCP service for `last`; every 100 ms a line goes to the pod and back",
	door:   TCP,
	stream: true,
	talk:   exchangeLines,
	lasts:  true,
}

func exchangeLines(ctx context.Context, c net.Conn, a Attack) (got content) {
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	answers := bufio.NewReader(c)
	for end := time.Now().Add(a.Last); time.Now().Before(end); {
		said := fmt.Appendf(nil, "message %d", got.messages+1)
		if _, got.err = c.Write(append(said, '\n')); got.err != nil {
			return got
		}
		heard, err := answers.ReadBytes('\n')
		if err != nil {
			got.err = err
			return got
		}
		got.messages++
		if got.flaw = echoes(heard, said, got.identity); got.flaw != "" {
			return got
		}
		got.identity = heard
		select {
		case <-ticker.C:
		case <-ctx.Done():
			got.err = context.Cause(ctx)
			return got
		}
	}
	return got
}

// echoes says what is wrong with the answer to a message, the one before it
// being of the same pod; empty: nothing.
func echoes(heard, said, before []byte) string {
	identity, err := backend.ParseIdentity(heard)
	if err != nil {
		return err.Error()
	}
	sum := sha256.Sum256(said)
	if want := hex.EncodeToString(sum[:]); identity.Body != want {
		return fmt.Sprintf("the pod got a message with checksum %s, sent was %s", identity.Body, want)
	}
	if earlier, err := backend.ParseIdentity(before); err == nil && earlier.Pod != identity.Pod {
		return fmt.Sprintf("%s answered in the connection of %s", identity.Pod, earlier.Pod)
	}
	return ""
}
