package question

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// FromScenario returns the question whose answer predicts a run of a scenario for one of its
// subjects. The error lists all parts of the scenario that the simulation does not support.
func FromScenario(s *scenario.Scenario, named subject.Subject) (Question, error) {
	q := New()
	q.Name, q.Summary, q.Seed = s.Name, s.Summary, s.Seed
	q.For, q.Settle = s.Length(), s.Settle
	var unknown []string
	p := s.Population
	if p.Cluster != "" || p.Recording != "" {
		unknown = append(unknown, "an imported or recorded population")
	}
	if p.Paths > 0 {
		unknown = append(unknown, fmt.Sprintf("%d further paths of each ingress", p.Paths))
	}
	q.Cluster = Cluster{Ingresses: p.Ingresses, Services: p.Services, Endpoints: p.Services * p.Pods}
	for name, value := range named.Flags {
		if !slices.Contains(namesOf(flags), name) {
			unknown = append(unknown, "the flag "+name)
			continue
		}
		q.Flags = with(q.Flags, name, value)
	}
	for key, value := range named.Config {
		if slices.Contains(namesOf(config), key) { // other keys hardly affect the control loop
			q.Config = with(q.Config, key, value)
		}
	}
	if named.Controller != subject.Bundled {
		unknown = append(unknown, "the controller "+named.Controller)
	}
	if named.Template != "" {
		unknown = append(unknown, "the template "+named.Template)
	}
	if named.Lua != "" {
		unknown = append(unknown, "the Lua code in "+named.Lua)
	}
	if named.Webhook {
		unknown = append(unknown, "a webhook")
	}
	if !named.Resources.IsZero() {
		unknown = append(unknown, "limits of resources")
	}
	if s.Rounds > 1 {
		unknown = append(unknown, "more than one round")
	}
	for _, step := range s.Timeline {
		kind := simulate.Kind(step.Churn)
		if step.Churn == "" || !slices.Contains(simulate.Kinds, kind) {
			unknown = append(unknown, fmt.Sprintf("the step %s%s%s%s", step.Churn, step.Apply, step.Delete, step.Fault))
			continue
		}
		if step.Pods > 1 {
			unknown = append(unknown, fmt.Sprintf("%d pods with each change", step.Pods))
		}
		if step.Paths > 0 {
			unknown = append(unknown, fmt.Sprintf("%d further paths of each new host", step.Paths))
		}
		q.Changes = append(q.Changes, Change{Kind: kind, Rate: step.Rate, At: step.At, For: step.For, Drain: step.Drain})
	}
	for _, t := range s.Traffic {
		if _, known := clients[t.Lane]; !known {
			unknown = append(unknown, "the lane "+t.Lane)
		}
		if t.Ramp != nil || t.Sine != nil {
			unknown = append(unknown, "a changing rate of the lane "+t.Lane)
		}
		q.Traffic = append(q.Traffic, Traffic{Lane: t.Lane, Rate: t.Rate, Last: last(t.Last)})
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return q, fmt.Errorf("%s: cannot be predicted: %s", s.Name, strings.Join(unknown, ", "))
	}
	return q, q.Check()
}

// last returns the length of a request of a scenario.
func last(d time.Duration) time.Duration {
	if d == 0 {
		return defaultLast
	}
	return d
}
