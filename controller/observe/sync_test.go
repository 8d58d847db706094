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

// A failed reload is counted and has an Event, unless the controller ended it.
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
				t.Errorf("the failure is counted: %v", counted)
			}
		})
	}
}

var successful = regexp.MustCompile(`\nnginx_ingress_controller_config_last_reload_successful\{.*\} 1\n`)

// A rejected configuration that is no longer wanted is not a failure any more, even if the same
// sync sends new endpoints. A reload that must wait leaves the failure unchanged.
func TestRejectedConfigurationIsNoLongerWanted(t *testing.T) {
	endpoints := []plan.Step{{Kind: plan.PostBackends}}
	for _, test := range []struct {
		name string
		sync Sync
		want bool
	}{
		{"nothing to do", Sync{}, true},
		{"new endpoints", Sync{Steps: endpoints}, true},
		{"new endpoints that Lua rejects", Sync{Steps: endpoints, Err: errors.New("no memory")}, false},
		{"a reload waits", Sync{Held: true}, false},
		{"a reload waits, with new endpoints", Sync{Held: true, Steps: endpoints}, false},
		{"an ingress is in quarantine", Sync{Steps: endpoints, Partial: true}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &Observer{
				Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Events: record.NewFakeRecorder(1),
				Metrics: metrics.New(metrics.Options{Full: true}), Pod: &corev1.Pod{},
			}
			o.Sync(Sync{Steps: []plan.Step{{Kind: plan.Reload}}, Err: errors.New("unknown directive")})
			o.Sync(test.sync)
			page := httptest.NewRecorder()
			o.Metrics.Handler().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
			if got := successful.MatchString(page.Body.String()); got != test.want {
				t.Errorf("the last reload counts as successful: %v, want %v", got, test.want)
			}
		})
	}
}
