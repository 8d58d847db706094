package metrics

import (
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"time"

	"windtunnel.dev/internal/accept"
)

// Limits of one batch. Lua sends up to --monitor-max-batch-size records per second, each well below
// a kilobyte except for very long paths.
const (
	batchSize    = 256 << 20 // bytes
	batchTimeout = 10 * time.Second
)

// Receive counts the requests that nginx reports, until the listener is closed.
func (m *Metrics) Receive(listener net.Listener, log *slog.Logger) {
	accept.Each(listener, log, func(connection net.Conn) {
		go func() {
			if err := m.receive(connection); err != nil {
				log.Warn("metrics of requests were lost", "error", err.Error())
			}
		}()
	})
}

// receive reads one batch: a JSON list of records, until the end of the connection.
func (m *Metrics) receive(connection net.Conn) error {
	defer connection.Close()
	if err := connection.SetReadDeadline(time.Now().Add(batchTimeout)); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(connection, batchSize))
	if err != nil || len(text) == 0 {
		return err
	}
	var records []Record
	if err := json.Unmarshal(text, &records); err != nil {
		return err
	}
	m.Requests(records)
	return nil
}
