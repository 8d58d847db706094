package run_test

import (
	"errors"
	"testing"
	"time"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
)

// A driver learns how many pods start in a run: those of the population, and those that changes add.
func TestPodsThatStart(t *testing.T) {
	t.Chdir(t.TempDir())
	service := corpus.Service{Namespace: "recorded", Name: "web", Pods: []string{"web-1", "web-2"}}
	writeRecording(t, "recorded.jsonl", churn.Recording{
		Population: corpus.Population{Namespace: "recorded", Services: []corpus.Service{service}},
		Stream: churn.Stream{Length: time.Minute, Changes: []churn.Change{
			{ID: 1, At: time.Second, Service: service.Key(), Add: []string{"web-3", "web-4", "web-5"}},
			{ID: 2, At: 2 * time.Second, Service: service.Key(), Remove: []string{"web-3"}},
			{ID: 3, At: time.Minute, Service: service.Key(), Add: []string{"web-6"}},
		}},
	})
	for name, c := range map[string]struct {
		population, step string
		want             int
	}{
		"rolling update": {"services: 2, pods: 3", "churn: rolling-update, rate: 5/s, for: 2s", 6 + 10},
		"scale-out":      {"services: 2, pods: 3", "churn: scale-out, rate: 5/s, for: 2s, pods: 4", 6 + 40},
		"touch":          {"services: 2, pods: 3", "churn: touch, rate: 5/s, for: 2s", 6},
		"new hosts":      {"services: 2, pods: 3", "churn: new-hosts, rate: 5/s, for: 2s", 6},
		"recorded":       {"recording: recorded.jsonl", "churn: recorded, for: 3s", 2 + 3},
	} {
		s := &stage{t: t, unlaunched: map[string]error{"one": errors.New("it is enough to prepare it")}}
		_, err := s.play(`
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  subjects: [{name: one}]
  population: {`+c.population+`}
  timeline:
  - {at: 1s, `+c.step+`}
`, nil)
		if len(s.actors) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if got := s.actors[0].options.Pods; got != c.want {
			t.Errorf("%s: %d pods, want %d", name, got, c.want)
		}
	}
}
