package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
	"windtunnel.dev/internal/plural"
)

// Schema names the form of an Explanation as JSON; another form has another
// number.
const Schema = "windtunnel.dev/explain/v1"

// Explanation is what is done, and why.
type Explanation struct {
	Schema   string    `json:"schema"`
	Reload   bool      `json:"reload"`
	Steps    []Step    `json:"steps"` // in their order; none: nginx reads the same
	Findings []Finding `json:"findings"`
	LeftOut  []string  `json:"leftOut,omitempty"` // ingresses of other classes
}

// Step is one of a plan.
type Step struct {
	Kind    plan.StepKind `json:"kind"`
	Bytes   int           `json:"bytes,omitempty"` // of what is sent
	Reasons []Reason      `json:"reasons"`
}

// Reason is one of a step's; see plan.Why.
type Reason struct {
	Server   string `json:"server,omitempty"`
	Location string `json:"location,omitempty"`
	Old      string `json:"old,omitempty"`
	New      string `json:"new,omitempty"`
}

// Finding is an object that is not followed to the letter.
type Finding struct {
	Object string `json:"object"`
	Key    string `json:"key,omitempty"`
	Reason string `json:"reason"`
	New    bool   `json:"new"` // the change brings it
}

func steps(running plan.State, planned []plan.Step) []Step {
	all := []Step{}
	for _, step := range planned {
		told := Step{Kind: step.Kind, Bytes: size(running, step)}
		for _, why := range step.Why {
			told.Reasons = append(told.Reasons, Reason(why))
		}
		all = append(all, told)
		running = step.Next
	}
	return all
}

func size(running plan.State, step plan.Step) int {
	switch step.Kind {
	case plan.PostBackends:
		return len(step.Next.Backends.Body())
	case plan.SendStream:
		return len(step.Next.Stream.Body())
	case plan.PostServers:
		body, err := wire.ServersAfter(running.Servers, step.Next.Servers)
		if err != nil {
			return 0 // both are our own JSON
		}
		return len(body)
	}
	return 0
}

func findings(before, now []model.Finding) []Finding {
	all := []Finding{}
	for _, f := range now {
		all = append(all, Finding{Object: f.Object, Key: f.Key, Reason: f.Reason, New: !slices.Contains(before, f)})
	}
	return all
}

// Write writes the explanation for people.
func (e Explanation) Write(w io.Writer) error {
	var text strings.Builder
	switch {
	case len(e.Steps) == 0:
		fmt.Fprintln(&text, "Nothing to do: nginx would read the same bytes.")
	case e.Reload:
		fmt.Fprintln(&text, "nginx reloads.")
	default:
		fmt.Fprintln(&text, "No reload: nginx is told while it runs.")
	}
	for _, step := range e.Steps {
		fmt.Fprintf(&text, "\n%s", step.Kind)
		if step.Bytes > 0 {
			fmt.Fprintf(&text, ", %s", plural.Of(step.Bytes, "byte"))
		}
		fmt.Fprintln(&text)
		for _, reason := range step.Reasons {
			fmt.Fprintf(&text, "  %s\n", plan.Why(reason))
		}
	}
	if len(e.Findings) > 0 {
		fmt.Fprintln(&text, "\nfindings (* the change brings it)")
	}
	for _, finding := range e.Findings {
		mark := " "
		if finding.New {
			mark = "*"
		}
		fmt.Fprintf(&text, "%s %s\n", mark, model.Finding{Object: finding.Object, Key: finding.Key, Reason: finding.Reason})
	}
	if len(e.LeftOut) > 0 {
		fmt.Fprintf(&text, "\nleft out, being of other classes: %s\n", strings.Join(e.LeftOut, ", "))
	}
	_, err := io.WriteString(w, text.String())
	return err
}
