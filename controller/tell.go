package controller

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/plan"
)

// pass is one sync, for those who want to know of it.
type pass struct {
	began  time.Time
	change uint64 // the newest that it contained
	steps  []plan.Step
	report apply.Report
	err    error

	partial bool // it leaves out what nginx refuses
	held    bool // it leaves what takes a reload for later
}

// tell logs a sync that did something or failed, counts it and records a
// Kubernetes Event when it came to a reload. The log record is a contract: the
// harness reads it.
func (c *controller) tell(p pass) {
	defer func() {
		if p.partial {
			c.Metrics.Partial()
		}
	}()
	if len(p.steps) == 0 && p.err == nil {
		c.Metrics.Current()
		return
	}
	problem := ""
	if p.err != nil {
		problem = p.err.Error()
	}
	c.Log.Info("sync",
		"took", time.Since(p.began),
		"reload", p.report.Reloaded,
		"why", why(p),
		"posts", append([]apply.Post{}, p.report.Posts...), // [] and not null
		"phases", p.report.Phases,
		"error", problem,
		"change", p.change)
	switch {
	case p.report.Started || p.report.Reloaded:
		c.tellPhases(p.report.Phases)
		c.Metrics.Loaded(c.target.Running().Conf, time.Now())
		c.events.Event(c.Pod, corev1.EventTypeNormal, "RELOAD", "nginx took a new configuration: "+why(p)[0])
	case p.err != nil && (p.steps == nil || slices.ContainsFunc(p.steps, isReload)):
		c.Metrics.LoadFailed()
		c.events.Event(c.Pod, corev1.EventTypeWarning, "RELOAD", "nginx keeps its configuration: "+problem)
	}
}

func isReload(step plan.Step) bool { return step.Kind == plan.Reload }

// why says in human lines what the reload, or else the POST, was for.
func why(p pass) []string {
	lines := []string{}
	if p.report.Started {
		lines = append(lines, "nginx was started")
	}
	for _, step := range p.steps {
		if step.Kind == plan.Reload || len(p.steps) == 1 {
			for _, reason := range step.Why {
				lines = append(lines, fmt.Sprint(reason))
			}
		}
	}
	return lines
}
