package driver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"windtunnel.dev/sim/adapter"
)

// healthTimeout is the kubelet's default for probes.
const healthTimeout = time.Second

// Check makes a health check of an adapter, with a timeout of one second. It returns nil if the condition
// holds.
func Check(ctx context.Context, check adapter.Health) error {
	if check.URL != "" {
		return CheckHealth(ctx, check.URL, check.Status)
	}
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", check.Address)
	if err != nil {
		return err
	}
	return connection.Close()
}

// CheckHealth requests a health endpoint once, with a timeout of one second. It returns nil if the
// answer has the status. The error has the beginning of the answer, which may say what is wrong.
func CheckHealth(ctx context.Context, url string, status int) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode == status {
		return nil
	}
	why := response.Status
	const most = 300 // bytes of the answer
	if text, _ := io.ReadAll(io.LimitReader(response.Body, most)); len(text) > 0 {
		why += ": " + strings.Join(strings.Fields(string(text)), " ")
	}
	return fmt.Errorf("%s: %s", url, why)
}
