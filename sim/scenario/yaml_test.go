package scenario_test

import (
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/scenario"
)

const head = "apiVersion: windtunnel.dev/v1\nkind: Scenario\nmetadata: {name: yaml}\n"

// A merge key of YAML gives a mapping the fields of another one: they count like its own.
func TestMergeKeys(t *testing.T) {
	s, err := scenario.Parse("merge.yaml", []byte(head+`
spec:
  population: {services: 3}
  traffic:
  - &slow {lane: upload, rate: 1/s, last: 3s}
  - {<<: *slow, rate: 2/s}
  timeline:
  - &first {at: 0s, churn: rolling-update, rate: 1/s, for: 20s}
  - {<<: [{pods: 2}, *first], churn: scale-out}
`), known)
	if err != nil {
		t.Fatal(err)
	}
	if step := s.Timeline[1]; step.For != 20*time.Second || step.Pods != 2 || step.Churn != scenario.ScaleOut {
		t.Errorf("step %+v", step)
	}
	_, err = scenario.Parse("merge.yaml", []byte(head+`
spec:
  population: {services: 3}
  traffic:
  - &slow {lane: upload, rate: 1/s, last: 3s}
  - {<<: *slow, lane: http}
`), known)
	if err == nil || !strings.Contains(err.Error(), "last: requests of the lane http have no chosen length") {
		t.Errorf("error %v", err)
	}
}

// A mapping that merges itself is an error, like any other mistake.
func TestMergesItself(t *testing.T) {
	if _, err := scenario.Parse("itself.yaml", []byte(head+"spec: &spec\n  <<: *spec\n"), known); err == nil || !strings.Contains(err.Error(), "contains itself") {
		t.Errorf("error %v", err)
	}
}

// Empty documents do not count as the first document.
func TestEmptyFirstDocument(t *testing.T) {
	s, err := scenario.Parse("empty.yaml", []byte("---\n# a licence\n---\n"+head), known)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "yaml" {
		t.Errorf("name %q", s.Name)
	}
}
