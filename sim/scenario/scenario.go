// Package scenario reads and checks scenario files. It returns the scenario that the harness runs.
// Its one rule: a returned scenario is complete and valid, with its defaults filled in; otherwise
// the error lists all problems of the file, one per line, each with its location and a way to fix
// it.
package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/sim/specfile"
)

// APIVersion and Kind are the apiVersion and kind of the first document of a scenario file.
const (
	APIVersion = "windtunnel.dev/v1"
	Kind       = "Scenario"
)

// Bundled is the default controller of a subject: the one of this repository.
const Bundled = "bundled"

// ImagePrefix is the prefix of a controller that is a container image: image:NAME, or image:FILE.tar.
const ImagePrefix = "image:"

// IsImageFile reports whether an image is named by the path of a file: it begins with /, ./ or ../, or ends
// with .tar. All others are names of images.
func IsImageFile(image string) bool {
	return filepath.IsAbs(image) || isRelative(image) || strings.HasSuffix(image, ".tar")
}

// The kinds of churn.
const (
	RollingUpdate = "rolling-update" // replaces the pods of one service after another, one pod at a time
	ScaleOut      = "scale-out"      // adds pods to one service after another
	NewHosts      = "new-hosts"      // creates ingresses, each for a new host
	Touch         = "touch"          // writes objects again without a relevant change

	CertificateRotation = "certificate-rotation" // gives one host after another a new certificate

	Recorded = "recorded" // replays the changes of a recording
)

// DefaultNamespace is the default namespace of a population. It exists even without a population.
const DefaultNamespace = "demo"

// DefaultGranularity is the largest time between two polls of a worker, by default, in a valid run.
const DefaultGranularity = 250 * time.Millisecond

// DefaultDrain is how long, by default, a pod keeps serving after a rolling update or a recording
// has removed it from its service. Kubernetes stops a pod and removes its endpoint at the same
// time, so pods in clusters wait some seconds (a preStop hook with a sleep) before they stop
// listening.
const DefaultDrain = 5 * time.Second

// RecordedNamespace is the namespace of a population from a recording.
const RecordedNamespace = "recorded"

// Churns lists the kinds of churn that a step can name.
var Churns = []string{RollingUpdate, ScaleOut, NewHosts, Touch, CertificateRotation, Recorded}

// NameAnnotation gives a manifest a name in the file that differs from its metadata.name. Parse
// removes the annotation from the object.
const NameAnnotation = specfile.NameAnnotation

// Manifest is a Kubernetes object of a scenario file.
type Manifest = specfile.Manifest

// Problem is one problem of a scenario file.
type Problem = specfile.Problem

// Scenario is a scenario file: subjects, what happens to them, and what is expected of them.
type Scenario struct {
	Name string
	File string // as passed to Load or Parse; errors start with it
	Spec
	Manifests []Manifest // in the order of the file
	Warnings  []Problem  // possible problems, sorted by line
	Located   bool       // relative paths of subjects were resolved against the file's folder
}

// ClusterFile returns the path of the file with the imported cluster; empty if there is none.
func (s *Scenario) ClusterFile() string {
	if s.Population.Cluster == "" || filepath.IsAbs(s.Population.Cluster) {
		return s.Population.Cluster
	}
	return filepath.Join(filepath.Dir(s.File), s.Population.Cluster)
}

// ClusterError returns an error about the imported cluster as a Problem at the line that names it. mend
// says how to fix it.
func (s *Scenario) ClusterError(cause error, mend string) error {
	what := fmt.Sprintf("cluster %s: %v", s.Population.Cluster, cause)
	return clusterError{Problem{File: s.File, Line: s.Population.Line, What: what, Mend: mend}, cause}
}

// clusterError is a Problem with its cause.
type clusterError struct {
	Problem
	cause error
}

// Is reports whether the cause is the target.
func (e clusterError) Is(target error) bool { return errors.Is(e.cause, target) }

// As sets the target if it is a Problem: callers that want one get it with its line.
func (e clusterError) As(target any) bool {
	problem, ok := target.(*Problem)
	if ok {
		*problem = e.Problem
	}
	return ok
}

// Named returns the manifests with a name, in the order in which a step applies them.
func (s *Scenario) Named(name string) []Manifest {
	var named []Manifest
	for _, m := range s.Manifests {
		if m.Name == name {
			named = append(named, m)
		}
	}
	return named
}

// Length returns when the last step of the timeline ends. The duration of a fault does not count: a
// fault may last until the end of its round. The rounds of a run divide this time among themselves.
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

// Lanes returns the names of the traffic lanes that the scenario uses, sorted.
func (s *Scenario) Lanes() []string {
	var lanes []string
	for _, t := range s.Traffic {
		lanes = append(lanes, t.Lane)
	}
	slices.Sort(lanes)
	return slices.Compact(lanes)
}

// types are the types of a scenario file.
var types = specfile.TypesOf(reflect.TypeFor[document](), map[string]string{"document": "a scenario"})

// document is the first document of a scenario file.
type document struct {
	APIVersion string   `yaml:"apiVersion" jsonschema:"required,enum=windtunnel.dev/v1"`
	Kind       string   `yaml:"kind" jsonschema:"required,enum=Scenario"`
	Metadata   metadata `yaml:"metadata" jsonschema:"required"`
	Spec       Spec     `yaml:"spec"`
}

type metadata struct {
	// Name of the scenario: lower-case letters, digits and dashes.
	Name string `yaml:"name" jsonschema:"required"`
}
