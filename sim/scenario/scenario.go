// Package scenario reads scenario files. It stands between the file that a
// person wrote and the harness that runs it. Its one rule: whatever it hands on
// is complete and makes sense, defaults filled in; whatever is wrong with a
// file is told all at once, a line each, with where it is and how to mend it.
package scenario

import (
	"slices"
	"time"
)

// APIVersion and Kind are what a scenario file's first document starts with.
const (
	APIVersion = "windtunnel.dev/v1"
	Kind       = "Scenario"
)

// Bundled is the controller that a subject runs unless it says otherwise: ours.
const Bundled = "bundled"

// ImagePrefix is how a controller begins that is an image: image:NAME.
const ImagePrefix = "image:"

// The kinds of churn.
const (
	RollingUpdate = "rolling-update" // replaces the pods of one service after another, each new pod coming as an old one leaves
	ScaleOut      = "scale-out"      // adds pods to one service after another
	NewHosts      = "new-hosts"      // creates an ingress for a new host each
	Touch         = "touch"          // writes objects again without a change that matters

	CertificateRotation = "certificate-rotation" // gives one host after another a new certificate

	Recorded = "recorded" // what happened to the population while it was recorded
)

// DefaultNamespace is where a population lies unless it says otherwise. It is there
// without a population, too.
const DefaultNamespace = "demo"

// DefaultDrain is how long a pod that a rolling update, or a recording, has taken
// out of its service goes on serving, unless the step says otherwise. Kubernetes
// tells the pod to end and nginx of its end at the same time, so pods in clusters
// wait some seconds (a preStop hook with a sleep) before they cease to listen.
const DefaultDrain = 5 * time.Second

// RecordedNamespace is where the population of a recording lies.
const RecordedNamespace = "recorded"

// Churns are the kinds of churn that a step can ask for.
var Churns = []string{RollingUpdate, ScaleOut, NewHosts, Touch, CertificateRotation, Recorded}

// Scenario is one story: subjects, what happens to them, what is expected.
type Scenario struct {
	Name string
	File string // as it was given to Load or Parse; errors start with it
	Spec
	Manifests []Manifest // in the order of the file
	Warnings  []Problem  // what may be wrong, by line
	Located   bool       // paths of subjects were relative to the file's folder, and are absolute now
}

// Named returns the manifests that a step means by name, in the order in which
// they are to be applied.
func (s *Scenario) Named(name string) []Manifest {
	var named []Manifest
	for _, m := range s.Manifests {
		if m.Name == name {
			named = append(named, m)
		}
	}
	return named
}

// Length is when the last step of the timeline is over; a fault may outlast
// it, to the end of its round. The rounds of a run divide it among themselves.
func (s *Scenario) Length() time.Duration {
	var end time.Duration
	for _, step := range s.Timeline {
		if step.Fault != "" {
			step.For = 0
		}
		end = max(end, step.At+step.For)
	}
	return end
}

// Lanes are the names of the traffic lanes that the scenario uses, sorted.
func (s *Scenario) Lanes() []string {
	var lanes []string
	for _, t := range s.Traffic {
		lanes = append(lanes, t.Lane)
	}
	slices.Sort(lanes)
	return slices.Compact(lanes)
}

// document is the first document of a scenario file.
type document struct {
	APIVersion string   `yaml:"apiVersion" jsonschema:"required,enum=windtunnel.dev/v1"`
	Kind       string   `yaml:"kind" jsonschema:"required,enum=Scenario"`
	Metadata   metadata `yaml:"metadata" jsonschema:"required"`
	Spec       Spec     `yaml:"spec"`
}

type metadata struct {
	// What the scenario is called: lower-case letters, digits and dashes.
	Name string `yaml:"name" jsonschema:"required"`
}
