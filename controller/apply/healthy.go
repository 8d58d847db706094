package apply

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Healthy returns nil if nginx is healthy by ingress-nginx's rules: its PID file names a live
// process, and its Lua code has received backends.
func (t *Target) Healthy(ctx context.Context) error {
	text, err := os.ReadFile(t.layout.PID())
	if err != nil {
		return fmt.Errorf("nginx is not running: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("nginx's PID in %s: %w", t.layout.PID(), err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		return fmt.Errorf("nginx's master process %d: %w", pid, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.control+"/is-dynamic-lb-initialized", nil)
	if err != nil {
		return err
	}
	response, err := control.Do(request)
	if err != nil {
		return fmt.Errorf("nginx's status server: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("nginx's Lua has no backends yet: %s answers %s", request.URL, response.Status)
	}
	return nil
}
