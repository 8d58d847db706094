package probe

import (
	"strings"
	"testing"

	"windtunnel.dev/sim/event"
)

func TestSettling(t *testing.T) {
	rolling := event.Change{Service: "demo/a", Added: []string{"new"}, Removed: []string{"old"}, Pods: 2}
	for name, c := range map[string]struct {
		change  event.Change
		later   []event.Change // before the answers
		answers string         // pods, - for none
		settled bool           // by the last answer, not before
	}{
		"new seen, then four without old": {rolling, nil, "old new b new b", true},
		"not without the new":             {rolling, nil, "b b b b b b b b", false},
		"old comes back":                  {rolling, nil, "new b new old new b new b", true},
		"a failure is no clean answer":    {rolling, nil, "new b new - new b new b", true},
		"scaled to nothing":               {event.Change{Removed: []string{"old"}}, nil, "old old -", true},
		"nothing added or removed":        {event.Change{Pods: 1}, nil, "a b", true},
		"a later change removes the new": {rolling, []event.Change{
			{Service: "demo/a", Added: []string{"newer"}, Removed: []string{"new"}, Pods: 2}}, "old b newer b b", true},
		"a later change adds the old again": {rolling, []event.Change{
			{Service: "demo/a", Added: []string{"old"}, Pods: 3}}, "new old b new old b", true},
		"a later change scales to nothing": {rolling, []event.Change{
			{Service: "demo/a", Removed: []string{"new", "b"}}}, "old -", true},
		"another service's size does not matter": {rolling, []event.Change{
			{Service: "demo/b", Pods: 1}}, "new b new b", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgress(c.change)
			for _, later := range c.later {
				p.supersede(later)
			}
			words := strings.Fields(c.answers)
			for i, pod := range words {
				if pod == "-" {
					pod = ""
				}
				if settled, last := p.record(answer{pod: pod}), i == len(words)-1; settled != (last && c.settled) {
					t.Fatalf("after %v: settled %v", words[:i+1], settled)
				}
			}
		})
	}
}

// A change with a Confirmation is served when a few answers in a row match, and given up when
// another change wants a different answer of the same host.
func TestSettlingByConfirmation(t *testing.T) {
	wanted := event.Change{Host: "a", Path: "/", Confirmation: &event.Confirmation{Service: "demo/web", Status: 200}}
	served, gap, unknown := answer{pod: "p", service: "demo/web", status: 200}, answer{status: 503}, answer{status: 404}
	for name, c := range map[string]struct {
		later   *event.Change
		answers []answer
		settled bool // by the last answer, not before
	}{
		"three in a row":                 {nil, []answer{unknown, gap, served, served, served}, true},
		"the old in between":             {nil, []answer{served, served, unknown, served, served}, false},
		"another service":                {nil, []answer{{pod: "p", service: "demo/other", status: 200}, {pod: "p", service: "demo/other", status: 200}, {pod: "p", service: "demo/other", status: 200}}, false},
		"something else is wanted":       {&event.Change{Host: "a", Path: "/", Confirmation: &event.Confirmation{Status: 404}}, []answer{unknown}, true},
		"of another path it is not":      {&event.Change{Host: "a", Path: "/b", Confirmation: &event.Confirmation{Status: 404}}, []answer{unknown}, false},
		"endpoints leave it as it is":    {&event.Change{Host: "a", Path: "/", Service: "demo/web", Pods: 3}, []answer{served, served}, false},
		"what is wanted may be a status": {nil, []answer{gap}, false},
	} {
		p := newProgress(wanted)
		if c.later != nil {
			p.supersede(*c.later)
		}
		for i, a := range c.answers {
			if settled, last := p.record(a), i == len(c.answers)-1; settled != (last && c.settled) {
				t.Errorf("%s: after %d answers: settled %v", name, i+1, settled)
			}
		}
	}
}
