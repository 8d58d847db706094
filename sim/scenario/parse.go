package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/adapters"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/specfile"
)

// Known has the names and checks that other packages provide for checking a scenario. A nil field
// disables its check.
type Known struct {
	Lanes           []string           // all traffic lanes
	StreamLanes     []string           // the lanes that need population.streams
	LastingLanes    []string           // the lanes whose requests have a chosen length
	SizedLanes      []string           // the lanes whose bodies have a chosen size
	Faults          map[string]bool    // all faults; the value is whether the fault has a duration
	Keys            Keys               // the keys that our controller knows
	CheckExpression func(string) error // returns an error if an expectation does not compile

	CheckMeasurement func(name string) error // returns an error if there is no such measurement

	CheckFigure func(pattern string) error        // returns an error if a pattern matches no figure
	CheckBudget func(figure, amount string) error // returns an error if an amount is not a valid budget of a figure
}

// format is the format of scenario files.
var format = specfile.Format{APIVersion: APIVersion, Kind: Kind}

// Largest is the maximum size of a scenario file, in bytes.
const Largest = 16 << 20

// Load reads and checks the scenario file at path. Its error joins all Problems of the file, sorted
// by line. Load resolves relative paths of subjects against the file's folder and makes them
// absolute.
func Load(path string, known Known) (*Scenario, error) {
	data, err := readfile.Read(path, Largest)
	if err != nil {
		return nil, fmt.Errorf("read scenario: %w", err)
	}
	return LoadAs(path, data, known)
}

// LoadAs is Load for a text in the place of the file at path.
func LoadAs(path string, data []byte, known Known) (*Scenario, error) {
	s, err := Parse(path, data, known)
	if err != nil {
		return nil, err
	}
	return s, s.locate()
}

// Parse checks a scenario file that has been read already, and leaves its paths as they are. name
// is the name of the file in errors.
func Parse(name string, data []byte, known Known) (*Scenario, error) {
	found := &specfile.Problems{File: name, Types: types}
	documents := format.Split(data, found)
	if len(documents) == 0 {
		return nil, found.Err()
	}
	s := &Scenario{File: name}
	var nodes []*yaml.Node
	s.Manifests, nodes = specfile.Manifests(documents[1:], Kind, APIVersion, found)
	readSpec(s, data, specfile.Position{Root: documents[0]}, nodes, known, found)
	if err := found.Err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.Warnings, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortStableFunc(s.Timeline, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return s, nil
}

// readSpec decodes and checks the first document; manifests are the others.
func readSpec(s *Scenario, data []byte, at specfile.Position, manifests []*yaml.Node, known Known, found *specfile.Problems) {
	d := document{Spec: Spec{Seed: 1, Rounds: 1, Settle: 20 * time.Second, Granularity: DefaultGranularity}}
	if !format.Decode(data, at, &d, found) {
		return
	}
	s.Name, s.Spec = d.Metadata.Name, d.Spec
	for _, key := range specfile.EmptyFields(at.Root) {
		found.Add(key.Line, key.Value+": has no value", "fill it in, or remove it")
	}
	fill(s, at)
	check(s, at, manifests, known, found)
}

// fill sets line numbers, and the defaults that depend on other fields.
func fill(s *Scenario, at specfile.Position) {
	whole(&s.Subjects, at, "subjects")
	whole(&s.Traffic, at, "traffic")
	whole(&s.Timeline, at, "timeline")
	for i := range s.Subjects {
		s.Subjects[i].Line = at.Line("spec", "subjects", i)
	}
	for i := range s.Traffic {
		s.Traffic[i].Line = at.Line("spec", "traffic", i)
	}
	for i := range s.Timeline {
		step := &s.Timeline[i]
		step.Line = at.Line("spec", "timeline", i)
		if step.Drain == nil && step.drains() {
			step.Drain = new(DefaultDrain)
		}
	}
	if s.Control != nil {
		s.Control.Line = at.Line("spec", "control")
		for i := range s.Control.Timeline {
			s.Control.Timeline[i].Line = at.Line("spec", "control", "timeline", i)
		}
	}
	if len(s.Subjects) == 0 {
		s.Subjects = []Subject{{Name: Bundled, Line: at.Line("spec")}}
	}
	for i := range s.Subjects {
		s.Subjects[i].fill()
	}
	if s.Population.Cluster != "" {
		s.Population.Line = at.Line("spec", "population", "cluster")
	} else if p := &s.Population; at.Has("spec", "population") {
		if p.Recording != "" {
			p.Namespace = cmp.Or(p.Namespace, RecordedNamespace)
			return
		}
		p.Namespace = cmp.Or(p.Namespace, DefaultNamespace)
		if !at.Has("spec", "population", "pods") {
			p.Pods = 1
		}
		if !at.Has("spec", "population", "ingresses") {
			p.Ingresses = p.Services
		}
	}
}

// fill sets the controller of a subject. Without one, that is the bundled controller or, for another
// adapter than the bundled controller's, the program of the adapter.
func (s *Subject) fill() {
	if s.Image != "" && s.Controller == "" {
		s.Controller, s.Image = ImagePrefix+s.Image, ""
	}
	if s.Adapter == "" || s.Adapter == adapters.Default {
		s.Controller = cmp.Or(s.Controller, Bundled)
	}
}

// whole empties a list from which the decoder dropped items. The decoder has reported these items,
// and the line numbers of the remaining items are unknown.
func whole[T any](list *[]T, at specfile.Position, key string) {
	if _, node := at.Find("spec", key); node.Kind == yaml.SequenceNode && len(node.Content) != len(*list) {
		*list = nil
	}
}
