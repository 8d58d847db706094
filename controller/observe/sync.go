package observe

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/plan"
)

// Sync describes one sync.
type Sync struct {
	Began  time.Time
	Change uint64 // number of the newest change that it saw; see watch.Ring
	Steps  []plan.Step
	Report apply.Report
	Err    error
	// Running is the nginx.conf that nginx currently runs.
	Running conf.Text

	Partial bool // objects that nginx rejects, or may reject, are in quarantine
	Held    bool // the steps that need a reload wait for a later sync
	Ended   bool // the controller ended during the sync, so an error is no sign of a bad configuration
}

// Sync logs and counts a sync that did something or failed, and records an Event if there was a
// reload. The harness parses the log record, so its keys must not change.
func (o *Observer) Sync(s Sync) {
	if s.Partial {
		defer o.Metrics.Partial()
	}
	if s.isCurrent() {
		o.Metrics.Current()
	}
	if len(s.Steps) == 0 && s.Err == nil {
		return
	}
	problem := ""
	if s.Err != nil {
		problem = s.Err.Error()
	}
	why := s.why()
	o.Log.Info("sync",
		"took", time.Since(s.Began),
		"reload", s.Report.Reloaded,
		"why", why,
		"posts", append([]apply.Post{}, s.Report.Posts...), // [], not null
		"phases", s.Report.Phases,
		"error", problem,
		"change", s.Change)
	switch {
	case s.Report.Started || s.Report.Reloaded:
		o.phases(s.Report.Phases)
		o.Metrics.Loaded(s.Running, time.Now())
		o.Events.Event(o.Pod, corev1.EventTypeNormal, "RELOAD", "nginx loaded a new configuration: "+why[0])
	case s.Err != nil && !s.Ended && (s.Steps == nil || slices.ContainsFunc(s.Steps, isReload)):
		o.Metrics.LoadFailed()
		o.Events.Event(o.Pod, corev1.EventTypeWarning, "RELOAD", "nginx was not reloaded: "+problem)
	}
}

// isCurrent reports whether nginx runs the wanted configuration, except perhaps for endpoints and
// certificates.
func (s Sync) isCurrent() bool {
	return s.Err == nil && !s.Held && !slices.ContainsFunc(s.Steps, isReload)
}

func isReload(step plan.Step) bool { return step.Kind == plan.Reload }

// why returns the reasons of the reload as text for people; without a reload, those of a single
// step.
func (s Sync) why() []string {
	lines := []string{}
	if s.Report.Started {
		lines = append(lines, "nginx was started")
	}
	for _, step := range s.Steps {
		if isReload(step) || len(s.Steps) == 1 {
			for _, reason := range step.Why {
				lines = append(lines, fmt.Sprint(reason))
			}
		}
	}
	return lines
}

func (o *Observer) phases(p apply.Phases) {
	o.Metrics.Phase(metrics.Render, p.Render)
	o.Metrics.Phase(metrics.Test, p.Test)
	o.Metrics.Phase(metrics.Signal, p.Signal)
	o.Metrics.Phase(metrics.FirstWorker, p.FirstWorker)
}
