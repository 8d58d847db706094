package observe

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/plan"
)

var failed = regexp.MustCompile(`\nnginx_ingress_controller_errors\{.*\} 1\n`)

// A reload that fails is counted and has an Event, unless the controller has ended it.
func TestFailedReload(t *testing.T) {
	for _, test := range []struct {
		name string
		sync Sync
		want string
	}{
		{"nginx rejects it", Sync{Err: errors.New("unknown directive")}, "Warning RELOAD nginx was not reloaded: unknown directive"},
		{"the controller ends", Sync{Err: context.Canceled, Ended: true}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			events := record.NewFakeRecorder(1)
			o := &Observer{
				Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Events: events,
				Metrics: metrics.New(metrics.Options{Full: true}), Pod: &corev1.Pod{},
			}
			test.sync.Steps = []plan.Step{{Kind: plan.Reload}}
			o.Sync(test.sync)
			close(events.Events)
			if got := <-events.Events; got != test.want {
				t.Errorf("the Event is %q, want %q", got, test.want)
			}
			page := httptest.NewRecorder()
			o.Metrics.Handler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
			if counted := failed.MatchString(page.Body.String()); counted != (test.want != "") {
				t.Errorf("counted as an error: %v", counted)
			}
		})
	}
}
