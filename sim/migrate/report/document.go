// Package report shows what a migration from one ingress controller to others changes: the
// annotations of the ingresses that behave differently, the requests that are answered differently,
// and the costs of changes on each controller. Its one rule: it is pure, and shows what it gets.
package report

import (
	"fmt"
	"strings"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/behave/diff"
	"windtunnel.dev/sim/judge"
)

// Schema is the version of the JSON document. Within a version, fields may be added, but none is
// removed or changes its meaning.
const Schema = "windtunnel.dev/migrate/v1"

// Document is migrate.json. docs/migrate.schema.json has the comments of the fields here and below.
type Document struct {
	// The version of the format: windtunnel.dev/migrate/v1.
	Schema string `json:"schema"`
	// The controller whose answers are wanted.
	From string `json:"from"`
	// Where the controllers ran.
	Driver string `json:"driver"`
	// When the run began.
	Start time.Time `json:"start"`
	// How long the run took, in nanoseconds.
	Took time.Duration `json:"took"`
	// The run was interrupted: the document is of what was finished.
	Interrupted bool `json:"interrupted,omitempty"`
	// The number of ingresses that are tested.
	Ingresses int `json:"ingresses"`
	// The number of hosts that their rules name.
	Hosts int `json:"hosts"`
	// The number of requests that were sent to the controller whose answers are wanted.
	Requests int `json:"requests"`
	// The other controllers, in the order of the command line.
	To []Target `json:"to"`
	// The annotations of the ingresses: first those with most requests that are answered otherwise.
	Annotations []Annotation `json:"annotations"`
	// The parts of the manifests that are not tested, and why.
	NotAsked []derive.Omission `json:"notAsked"`
	// The groups of ingresses whose answers could not be recorded, and why.
	NotRecorded []diff.NotCompared `json:"notRecorded"`
	// The costs of changes on each controller. Absent if they were not measured.
	Costs *Costs `json:"costs,omitempty"`
}

// Target is a controller to move to, compared with the one to leave.
type Target struct {
	// Its name, which is unique.
	Name string `json:"name"`
	// The number of requests whose answers were compared.
	Requests int `json:"requests"`
	// The requests that are answered otherwise, the worst for clients first.
	Differences []Difference `json:"differences"`
	// The groups of ingresses that could not be compared, and why.
	NotCompared []diff.NotCompared `json:"notCompared"`
	// ConfigMap keys and flags of the manifests that it cannot have: config/KEY, flag/NAME.
	Unreached []string `json:"unreached"`
}

// Difference is a request that is answered otherwise.
type Difference struct {
	// The effect on clients, the case, the request line, the causes, and the values that differ.
	diff.Difference
	// The host that is asked.
	Host string `json:"host"`
	// The path that is asked.
	Path string `json:"path"`
	// The headers of the request, besides Host.
	Headers []string `json:"headers,omitempty"`
	// What the controller to leave answered.
	From string `json:"from"`
	// What this controller answered.
	To string `json:"to"`
	// The ingresses that have the cause.
	Ingresses []string `json:"ingresses"`
}

// Annotation is an annotation of the ingresses, and how it fares.
type Annotation struct {
	// Its name, without prefix.
	Name string `json:"name"`
	// The number of ingresses that have it.
	Ingresses int `json:"ingresses"`
	// The number of requests that ask about it.
	Requests int `json:"requests"`
	// Why nothing is asked about it.
	NotAsked string `json:"notAsked,omitempty"`
	// How it fares on each of the other controllers, in their order.
	To []Fate `json:"to"`
}

// Fate is how an annotation fares on a controller.
type Fate struct {
	// The name of the controller.
	Name string `json:"name"`
	// The number of requests about the annotation whose answers were compared.
	Compared int `json:"compared"`
	// The number of requests that are answered otherwise because of it.
	Differ int `json:"differ"`
}

// String returns the fate in words.
func (f Fate) String() string {
	switch {
	case f.Differ > 0:
		return "differs in " + plural.Of(f.Differ, "request")
	case f.Compared == 0:
		return "not compared"
	}
	return "same"
}

// Sentence returns how an annotation fares on a controller, as in: 12 ingresses use auth-url: differs
// in 3 requests.
func (a Annotation) Sentence(to int) string {
	fate := a.To[to].String()
	if a.Requests == 0 {
		fate = "not tested"
		if a.NotAsked != "" {
			fate = a.NotAsked
		}
	}
	return fmt.Sprintf("%s %s %s: %s", plural.Of(a.Ingresses, "ingress", "ingresses"), plural.Noun(a.Ingresses, "uses", "use"), a.Name, fate)
}

// Outcome returns Interrupted if the migration was; Failed if some answers differ; Void if none
// differs, but some could not be compared, or costs could not be measured.
func (d Document) Outcome() judge.Outcome {
	if d.Interrupted {
		return judge.Interrupted
	}
	told := len(d.NotRecorded) == 0 && (d.Costs == nil || d.Costs.valid())
	for _, t := range d.To {
		if len(t.Differences) > 0 {
			return judge.Failed
		}
		told = told && len(t.NotCompared) == 0
	}
	if !told {
		return judge.Void
	}
	return judge.Passed
}

// headline returns the result in words.
func (d Document) headline() string {
	var parts []string
	if d.Interrupted {
		parts = append(parts, "interrupted")
	}
	for _, t := range d.To {
		parts = append(parts, t.Name+" "+t.verdict())
	}
	return strings.Join(parts, "; ")
}

// verdict returns the result of a target in words, to follow its name.
func (t Target) verdict() string {
	switch {
	case t.Requests == 0:
		return "could not be compared"
	case len(t.Differences) == 0 && len(t.NotCompared) > 0:
		return fmt.Sprintf("answers all %d compared requests identically", t.Requests)
	case len(t.Differences) == 0:
		return fmt.Sprintf("answers all %s identically", plural.Of(t.Requests, "request"))
	}
	return fmt.Sprintf("answers %d of %s differently", len(t.Differences), plural.Of(t.Requests, "request"))
}
