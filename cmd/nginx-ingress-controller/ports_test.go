package main

import (
	"fmt"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// The controller closes nginx's ports again after it has checked them, so the webhook could take one.
func TestWebhookOnAPortOfNginx(t *testing.T) {
	var args []string
	first := nginxtest.FreePorts(t, 7)
	for i, name := range []string{"http", "https", "default-server", "status", "stream", "healthz", "profiler"} {
		args = append(args, fmt.Sprintf("--%s-port=%d", name, first+i))
	}
	address := fmt.Sprintf("127.0.0.1:%d", first+1)
	args = append(args, "--validating-webhook="+address, "--validating-webhook-certificate=a", "--validating-webhook-key=b")
	f, err := parseFlags(args)
	if err != nil {
		t.Fatal(err)
	}
	listeners, err := f.listen(t.TempDir())
	if err == nil {
		listeners.close()
	}
	if want := "--validating-webhook " + address + ": --https-port uses the same port"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
