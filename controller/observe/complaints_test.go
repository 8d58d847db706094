package observe

import (
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/metrics"
)

// A complaint names the dictionary to enlarge, and causes only one Event until nginx accepts the
// POST.
func TestComplaintNamesTheDictionary(t *testing.T) {
	for path, dictionary := range map[string]string{
		"/configuration/backends": "configuration_data",
		"/configuration/servers":  "certificate_data or certificate_servers",
		"stream":                  "tcp_udp_configuration_data",
	} {
		t.Run(path, func(t *testing.T) {
			events := record.NewFakeRecorder(10)
			o := &Observer{
				Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Events: events,
				Metrics: metrics.New(metrics.Options{}), Pod: &corev1.Pod{},
			}
			complaint := apply.Complaint{Path: path, Text: "no memory"}
			o.Complaint(complaint)
			o.Complaint(complaint)
			o.Posted([]apply.Post{{Path: path}})
			o.Complaint(complaint)
			close(events.Events)
			count := 0
			for event := range events.Events {
				count++
				if !strings.Contains(event, "no memory") || !strings.HasSuffix(event, "make "+dictionary+" larger") {
					t.Errorf("the Event is %q", event)
				}
			}
			if count != 2 {
				t.Errorf("%d Events, want 2", count)
			}
		})
	}
}
