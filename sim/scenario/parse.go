package scenario

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/internal/readfile"
)

// Known has the names and checks that other packages provide for checking a scenario. A nil field
// disables its check.
type Known struct {
	Lanes           []string           // all traffic lanes
	StreamLanes     []string           // the lanes that need population.streams
	Faults          map[string]bool    // all faults; the value is whether the fault has a duration
	Keys            Keys               // the keys that our controller knows
	CheckExpression func(string) error // returns an error if an expectation does not compile

	CheckFigure func(pattern string) error        // returns an error if a pattern matches no figure
	CheckBudget func(figure, amount string) error // returns an error if an amount is not a valid budget of a figure
}

// heading describes the start of a scenario file, in messages.
const heading = "apiVersion: " + APIVersion + " and kind: " + Kind

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
	s, err := Parse(path, data, known)
	if err != nil {
		return nil, err
	}
	return s, s.locate()
}

// Parse checks a scenario file that has been read already, and leaves its paths as they are. name
// is the name of the file in errors.
func Parse(name string, data []byte, known Known) (*Scenario, error) {
	found := &problems{file: name}
	documents := split(data, found)
	if len(documents) == 0 {
		if len(found.found) == 0 {
			found.add(1, "the file is empty", "start it with "+heading)
		}
		return nil, found.err()
	}
	s := &Scenario{File: name}
	all := items(documents[1:])
	for _, document := range all {
		if m, ok := readManifest(document, found); ok {
			s.Manifests = append(s.Manifests, m)
		} else {
			s.Manifests = append(s.Manifests, unusable(document))
		}
	}
	readSpec(s, data, position{documents[0]}, all, known, found)
	if err := found.err(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.Warnings, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	slices.SortStableFunc(s.Timeline, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return s, nil
}

// unusable returns a placeholder for a manifest that did not decode, so that the steps that name it
// cause no further problems.
func unusable(node *yaml.Node) Manifest {
	at := position{node}
	return Manifest{Name: cmp.Or(at.text("metadata", "annotations", NameAnnotation), at.text("metadata", "name")), Line: at.line()}
}

// split reads the documents of a file as nodes, which have line numbers, and omits empty documents.
func split(data []byte, found *problems) []*yaml.Node {
	var documents []*yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		node := &yaml.Node{}
		err := decoder.Decode(node)
		if errors.Is(err, io.EOF) {
			return documents
		}
		if err != nil {
			found.yaml(err, 1)
			return documents
		}
		if root := resolve(node); root.Kind == yaml.MappingNode || root.Kind == yaml.SequenceNode || root.Value != "" {
			documents = append(documents, node)
		}
	}
}

// readSpec decodes and checks the first document; manifests are the others.
func readSpec(s *Scenario, data []byte, at position, manifests []*yaml.Node, known Known, found *problems) {
	if kind, version := at.text("kind"), at.text("apiVersion"); kind != Kind || version != APIVersion {
		found.add(at.line(), fmt.Sprintf("the first document is of kind %q, with apiVersion %q", kind, version), "start it with "+heading)
		return
	}
	d := document{Spec: Spec{Seed: 1, Rounds: 1, Settle: 20 * time.Second, Granularity: 250 * time.Millisecond}}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); err != nil {
		found.yaml(err, at.line())
	}
	for _, line := range emptyItems(at.root) {
		found.add(line, "an empty list item", "fill it in, or remove its dash")
	}
	s.Name, s.Spec = d.Metadata.Name, d.Spec
	fill(s, at)
	check(s, at, manifests, known, found)
}

// fill sets line numbers, and the defaults that depend on other fields.
func fill(s *Scenario, at position) {
	whole(&s.Subjects, at, "subjects")
	whole(&s.Traffic, at, "traffic")
	whole(&s.Timeline, at, "timeline")
	for i := range s.Subjects {
		s.Subjects[i].Line = at.line("spec", "subjects", i)
	}
	for i := range s.Traffic {
		s.Traffic[i].Line = at.line("spec", "traffic", i)
	}
	for i := range s.Timeline {
		step := &s.Timeline[i]
		step.Line = at.line("spec", "timeline", i)
		if step.Drain == nil && step.drains() {
			step.Drain = new(DefaultDrain)
		}
	}
	if s.Control != nil {
		s.Control.Line = at.line("spec", "control")
		for i := range s.Control.Timeline {
			s.Control.Timeline[i].Line = at.line("spec", "control", "timeline", i)
		}
	}
	if len(s.Subjects) == 0 {
		s.Subjects = []Subject{{Name: Bundled, Line: at.line("spec")}}
	}
	for i := range s.Subjects {
		s.Subjects[i].Controller = cmp.Or(s.Subjects[i].Controller, Bundled)
	}
	if p := &s.Population; !p.IsZero() {
		p.Namespace = cmp.Or(p.Namespace, DefaultNamespace)
		if p.Recording != "" {
			p.Namespace = RecordedNamespace
			return
		}
		p.Pods = cmp.Or(p.Pods, 1)
		p.Ingresses = cmp.Or(p.Ingresses, p.Services)
	}
}

// whole empties a list from which the decoder dropped items. The decoder has reported those items,
// and the lines of the remaining items are no longer known.
func whole[T any](list *[]T, at position, key string) {
	if _, node := at.find("spec", key); node.Kind == yaml.SequenceNode && len(node.Content) != len(*list) {
		*list = nil
	}
}
