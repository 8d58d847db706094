package controller_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/controller"
)

// At verbosity 2, the controller logs changes of nginx.conf.
func TestDiffIsLogged(t *testing.T) {
	log := records{t, make(chan record, 1000)}
	r := launchAs(t, true, func(c *controller.Config) {
		c.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	log.next("ready")
	r.configure(map[string]string{"keep-alive": "76"}, r.client.CoreV1().ConfigMaps("default").Update)
	got := log.next("nginx.conf changes").Diff
	for _, want := range []string{"--- running", "+++ next", "-\tkeepalive_timeout 75s;", "+\tkeepalive_timeout 76s;"} {
		if !strings.Contains(got, want+"\n") {
			t.Error(fmt.Sprintf("no %q in\n", want) + got)
		}
	}
}

// At verbosity 5, nginx's log level is debug, unless the ConfigMap sets another one.
func TestNginxLogLevelFollowsVerbosity(t *testing.T) {
	r := launchAs(t, true, func(c *controller.Config) { c.NginxDebug = true })
	r.log.next("ready")
	level := func() string {
		conf, err := os.ReadFile(filepath.Join(r.root, "etc/nginx/nginx.conf"))
		r.must(err)
		_, after, _ := strings.Cut(string(conf), "\nerror_log ")
		line, _, _ := strings.Cut(after, ";")
		return line[strings.LastIndex(line, " ")+1:]
	}
	if got := level(); got != "debug" {
		t.Errorf("level %q, want debug", got)
	}
	r.configure(map[string]string{"error-log-level": "warn"}, r.client.CoreV1().ConfigMaps("default").Update)
	r.awaitSync(reloaded)
	if got := level(); got != "warn" {
		t.Errorf("level %q, want warn", got)
	}
}
