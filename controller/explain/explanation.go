package explain

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/plural"
)

// Schema is the version of an Explanation's JSON format. The number changes with the format.
const Schema = "windtunnel.dev/explain/v1"

// Explanation is what the controller does, and why.
type Explanation struct {
	Schema   string          `json:"schema"`
	Reload   bool            `json:"reload"`
	Steps    []Step          `json:"steps"` // in order; none if nginx would read the same bytes
	Findings []FindingOutput `json:"findings"`
	LeftOut  []string        `json:"leftOut,omitempty"` // ingresses of other classes
	Unread   []Unread        `json:"unread,omitempty"`  // kinds that are not compared
}

// Unread is a kind that is not compared, and how many objects of it there are.
type Unread struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Old        int    `json:"old"`
	New        int    `json:"new"`
}

func (u Unread) String() string {
	count := strconv.Itoa(u.New)
	if u.Old != u.New {
		count = fmt.Sprintf("%d -> %d", u.Old, u.New)
	}
	return fmt.Sprintf("%s %s (%s)", u.APIVersion, u.Kind, count)
}

// unread returns the kinds of both sets of manifests that are not compared, sorted.
func unread(old, next *snapshot.Manifests) []Unread {
	kinds := maps.Clone(old.Unread())
	maps.Copy(kinds, next.Unread())
	var all []Unread
	for kind := range kinds {
		all = append(all, Unread{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Old: old.Unread()[kind], New: next.Unread()[kind]})
	}
	slices.SortFunc(all, func(a, b Unread) int {
		return cmp.Or(cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// Step is a step of a plan.
type Step struct {
	Kind    plan.StepKind `json:"kind"`
	Bytes   int           `json:"bytes,omitempty"` // of the body that is sent
	Reasons []Reason      `json:"reasons"`
}

// Reason is a reason for a step; see plan.Why.
type Reason struct {
	Server   string `json:"server,omitempty"`
	Location string `json:"location,omitempty"`
	Old      string `json:"old,omitempty"`
	New      string `json:"new,omitempty"`
}

// FindingOutput is a model.Finding in the output format.
type FindingOutput struct {
	Object string `json:"object"`
	Key    string `json:"key,omitempty"`
	Reason string `json:"reason"`
	New    bool   `json:"new"` // the change causes it
}

func steps(running plan.State, planned []plan.Step) []Step {
	all := []Step{}
	for _, step := range planned {
		explained := Step{Kind: step.Kind, Bytes: size(running, step)}
		for _, why := range step.Why {
			explained.Reasons = append(explained.Reasons, Reason(why))
		}
		all = append(all, explained)
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
		body, err := step.Next.CertificatesBody(running)
		if err != nil {
			return 0 // cannot happen: texts can always be encoded
		}
		return len(body)
	}
	return 0
}

func findings(before, now []model.Finding) []FindingOutput {
	all := []FindingOutput{}
	for _, f := range now {
		all = append(all, FindingOutput{Object: f.Object, Key: f.Key, Reason: f.Reason, New: !slices.Contains(before, f)})
	}
	return all
}

// Write writes the explanation as human-readable text.
func (e Explanation) Write(w io.Writer) error {
	var text strings.Builder
	switch {
	case len(e.Steps) == 0:
		fmt.Fprintln(&text, "Nothing to do: nginx would read the same bytes.")
	case e.Reload:
		fmt.Fprintln(&text, "nginx reloads.")
	default:
		fmt.Fprintln(&text, "No reload: nginx is updated while it runs.")
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
		fmt.Fprintln(&text, "\nfindings (*: caused by the change)")
	}
	for _, finding := range e.Findings {
		mark := " "
		if finding.New {
			mark = "*"
		}
		fmt.Fprintf(&text, "%s %s\n", mark, model.Finding{Object: finding.Object, Key: finding.Key, Reason: finding.Reason})
	}
	if len(e.LeftOut) > 0 {
		fmt.Fprintf(&text, "\nignored because of their class: %s\n", strings.Join(e.LeftOut, ", "))
	}
	if len(e.Unread) > 0 {
		fmt.Fprintln(&text, "\nignored, because their kinds are not compared:")
	}
	for _, kind := range e.Unread {
		fmt.Fprintf(&text, "  %s\n", kind)
	}
	_, err := io.WriteString(w, text.String())
	return err
}
