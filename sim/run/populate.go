package run

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"windtunnel.dev/adapters"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/corpus/imported"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/scenario"
)

// Check returns why a scenario cannot be run with its population, or nil if it can. It checks this
// before anything starts, and reads an imported cluster or a recording. Without a driver, it does not check
// whether there is room for the pods.
func Check(s *scenario.Scenario, seed uint64, d driver.Driver) error {
	limited, limits := d.(driver.PodLimiter)
	if s.Population.Cluster == "" && s.Population.Recording == "" && !limits && !asksOne(s) {
		return nil
	}
	recording, _, err := populate(s, seed)
	if err != nil {
		return err
	}
	if err := errors.Join(checkHosts(s, recording, seed), checkServices(s, recording.Population)); err != nil || !limits {
		return err
	}
	if err := limited.Room(need(recording.Population, len(s.Subjects))); err != nil {
		return fmt.Errorf("%s: driver %s: %w", s.File, d.Name(), err)
	}
	return nil
}

// need returns what the pods of a population need.
func need(population corpus.Population, subjects int) backend.Need {
	need := backend.Need{Subjects: subjects}
	each := 1
	if len(streams(population)) > 0 {
		each += backend.StreamSockets
	}
	for _, service := range population.WithPods() {
		pods := len(service.Pods) + len(service.Unready())
		need.Pods += pods
		need.Sockets += pods * (each + len(service.FurtherPorts()))
	}
	return need
}

// populate generates the population, or reads it from the scenario's recording or cluster. A cluster is
// described as well.
func populate(s *scenario.Scenario, seed uint64) (churn.Recording, *event.Population, error) {
	switch p := s.Population; {
	case p.Cluster != "":
		population, described, err := importCluster(s, seed)
		return churn.Recording{Population: population}, described, err
	case p.Recording != "":
		recording, err := readRecording(filepath.Join(filepath.Dir(s.File), p.Recording))
		return recording, nil, err
	default:
		return churn.Recording{Population: corpus.Generate(shape(p, seed))}, nil, nil
	}
}

// acceptsSnippets reports whether the settings of all subjects accept snippets in annotations.
func acceptsSnippets(s *scenario.Scenario) bool {
	return !slices.ContainsFunc(s.Subjects, func(one scenario.Subject) bool {
		value := func(key string) string { return cmp.Or(one.Config[key], s.Config[key]) }
		return value("allow-snippet-annotations") != "true" || value("annotations-risk-level") != "Critical"
	})
}

func readRecording(path string) (churn.Recording, error) {
	file, err := readfile.Open(path)
	if err != nil {
		return churn.Recording{}, err
	}
	defer file.Close()
	recording, err := churn.Read(file)
	if err != nil {
		return recording, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return recording, nil
}

// importCluster reads the cluster of a scenario. An error names the scenario's line.
func importCluster(s *scenario.Scenario, seed uint64) (corpus.Population, *event.Population, error) {
	manifests, err := manifest.Load(s.ClusterFile())
	if err != nil {
		return corpus.Population{}, nil, s.ClusterError(err, "name a file of windtunnel corpus import, relative to the folder of the scenario")
	}
	foreign := slices.ContainsFunc(s.Subjects, func(one scenario.Subject) bool { return one.Adapter != "" && one.Adapter != adapters.Default })
	population, described, err := imported.Of(manifests, imported.Options{Seed: seed, Foreign: foreign, Snippets: acceptsSnippets(s)})
	if described != nil {
		described.File = s.Population.Cluster
	}
	if err == nil {
		if many := scenario.TooMany(1, described.Pods+described.Unready, described.Ingresses); many != "" {
			err = errors.New("a population too large: " + many)
		}
	}
	if err != nil {
		return population, described, s.ClusterError(err, "docs/scenarios.md describes which hosts and paths get requests")
	}
	return population, described, checkLanes(s, population)
}

// shape returns the shape of a population that is generated.
func shape(p scenario.Population, seed uint64) corpus.Shape {
	shape := corpus.Shape{
		Namespace: cmp.Or(p.Namespace, scenario.DefaultNamespace), Services: p.Services, Pods: p.Pods, Ingresses: p.Ingresses, Seed: seed,
		TLS: p.TLS, Annotations: p.Annotations, Paths: p.Paths,
	}
	if p.Streams {
		shape.StreamPort = driver.StreamPort
	}
	return shape
}
