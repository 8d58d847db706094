// Package observe reports what the controller does: in its log, in its metrics and as Kubernetes
// Events. It stands between the syncs and the people who watch them. Its one rule: it only reports
// and decides nothing; a sync without it would serve the same.
package observe

import (
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/quarantine"
	"windtunnel.dev/controller/snapshot"
)

// Observer reports what syncs do, one sync after another. It is not safe for concurrent use.
type Observer struct {
	Log       *slog.Logger
	Events    record.EventRecorder
	Metrics   *metrics.Metrics
	Pod       *corev1.Pod          // the controller's own
	ConfigMap types.NamespacedName // the controller's own
	// ServedMetrics enables the metrics of hosts, ingresses and certificates.
	ServedMetrics bool

	known      map[string]bool          // findings of the last sync
	complaints map[apply.Complaint]bool // of Lua, about configuration that nginx has not accepted yet
	served     *model.Model             // the only model in the metrics of hosts and certificates; nil if there are two
}

// Verdict records an Event on an object that nginx rejects.
func (o *Observer) Verdict(cluster snapshot.Snapshot, verdict quarantine.Verdict) {
	const reason = "Refused" // users match on it
	switch config := cluster.ConfigMaps[o.ConfigMap]; {
	case verdict.Ingress != nil:
		o.Events.Event(verdict.Ingress, corev1.EventTypeWarning, reason, verdict.Reason)
	case config != nil:
		o.Events.Event(config, corev1.EventTypeWarning, reason, verdict.Reason)
	}
}

// Template reports a change of the user's template: it is rejected because of err, or in use if err
// is nil.
func (o *Observer) Template(file string, err error) {
	if err == nil {
		o.Log.Info("the new template is in use", "file", file)
		return
	}
	o.Log.Error("the new template is rejected, the old one stays in use", "file", file, "error", err.Error())
	o.Events.Eventf(o.Pod, corev1.EventTypeWarning, "Template", "the new %s is rejected, the old one stays in use: %v", file, err)
}
