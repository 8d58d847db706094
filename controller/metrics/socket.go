package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"time"
)

// Bounds of one batch. Lua sends up to --monitor-max-batch-size records per second, each well below
// a kilobyte except for very long paths.
const (
	batchSize    = 256 << 20 // bytes
	batchTimeout = 10 * time.Second
)

// Listen opens the Unix socket to which nginx's workers send their records. Everyone may write to
// it, because the workers run as another user.
func Listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the socket for nginx's metrics: %w", err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("the socket for nginx's metrics (its path may have at most 107 characters): %w", err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		listener.Close()
		return nil, fmt.Errorf("the socket for nginx's metrics: %w", err)
	}
	return listener, nil
}

// Receive counts what nginx sends until the listener is closed.
func (m *Metrics) Receive(listener net.Listener, log *slog.Logger) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			if err := m.receive(connection); err != nil {
				log.Warn("metrics of requests were lost", "error", err.Error())
			}
		}()
	}
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
