package question

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/specfile"
)

type document struct {
	APIVersion string   `yaml:"apiVersion" jsonschema:"required,enum=windtunnel.dev/v1"`
	Kind       string   `yaml:"kind" jsonschema:"required,enum=Question"`
	Metadata   metadata `yaml:"metadata" jsonschema:"required"`
	Spec       Spec     `yaml:"spec"`
}

type metadata struct {
	// Name of the question: lower-case letters, digits and dashes.
	Name string `yaml:"name" jsonschema:"required"`
}

var types = specfile.TypesOf(reflect.TypeFor[document](), map[string]string{"document": "a question"})

var format = specfile.Format{APIVersion: APIVersion, Kind: Kind}

// Parse reads and checks the text of a question file. name is the name of the file in errors. The error
// joins all specfile.Problems of the file, sorted by line.
func Parse(name string, data []byte) (Question, error) {
	found := &specfile.Problems{File: name, Types: types}
	documents := format.Split(data, found)
	if len(documents) == 0 {
		return Question{}, found.Err()
	}
	if len(documents) > 1 {
		found.Add(documents[1].Line, "a second document", "remove it: a question has no manifests")
	}
	at := specfile.Position{Root: documents[0]}
	d := document{Spec: New().Spec}
	d.Spec.Cluster = Cluster{}
	if format.Decode(data, at, &d, found) {
		c := checker{&d.Spec, specfile.NewChecker(at, found)}
		if len(validation.IsDNS1123Label(d.Metadata.Name)) > 0 {
			c.Problem(fmt.Sprintf("%q cannot be the name of a question", d.Metadata.Name), "use lower-case letters, digits and dashes, at most 63", "metadata", "name")
		}
		c.check()
	}
	return Question{d.Metadata.Name, d.Spec}, found.Err()
}

// Check checks a question that flags have changed.
func (q *Question) Check() error {
	found := &specfile.Problems{File: q.Name, Types: types}
	c := checker{&q.Spec, specfile.NewChecker(specfile.Position{Root: &yaml.Node{}}, found)}
	c.check()
	if len(found.Found) > 0 {
		first := found.Found[0]
		return fmt.Errorf("%s; %s", first.What, first.Mend)
	}
	return nil
}

// checker looks for values that decode but are not valid.
type checker struct {
	*Spec
	*specfile.Checker
}

func (c *checker) check() {
	c.within(c.Runs, 1, mostRuns, "runs", "spec", "runs")
	c.within(c.Cluster.Ingresses, 1, mostCluster, "ingresses", "spec", "cluster", "ingresses")
	c.within(c.Cluster.Services, 0, mostCluster, "services", "spec", "cluster", "services")
	c.within(c.Cluster.Endpoints, 0, mostCluster, "endpoints", "spec", "cluster", "endpoints")
	c.within(c.Processors, 0, mostWorkers, "processors", "spec", "processors")
	c.positive(c.For, "spec", "for")
	c.duration(c.Settle, "spec", "settle")
	c.given("flag", flags, c.Flags, "spec", "flags")
	c.given("key", config, c.Config, "spec", "config")
	c.changes()
	c.traffic()
	c.where()
	if !c.Failed() {
		c.sweep()
	}
}

func (c *checker) within(n, least, most int, what string, path ...any) {
	if n < least || n > most {
		c.Problem(fmt.Sprintf("%d %s", n, what), fmt.Sprintf("write a number from %d to %d", max(least, 1), most), path...)
	}
}

func (c *checker) positive(d time.Duration, path ...any) {
	if d <= 0 {
		c.Problem(fmt.Sprintf("%v: %v is not above zero", path[len(path)-1], d), "write a duration such as 10m", path...)
	}
	c.duration(d, path...)
}

func (c *checker) duration(d time.Duration, path ...any) {
	if d < 0 {
		c.Problem(fmt.Sprintf("%v: %v is below zero", path[len(path)-1], d), "make it 0s or more", path...)
	}
	if d > scenario.LongestTime {
		c.Problem(fmt.Sprintf("%v: %v", path[len(path)-1], d), fmt.Sprintf("make it %v (31 days) at most", scenario.LongestTime), path...)
	}
}

// given checks flags, or keys of the ConfigMap.
func (c *checker) given(kind string, known []setting, given map[string]string, path ...any) {
	names := namesOf(known)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			c.Problem(fmt.Sprintf("the %s %s does not matter for the control loop, or is not known", kind, name), specfile.Choose(name, kind+"s that do", names), append(path, name)...)
		}
	}
	var settings simulate.Settings
	for _, s := range known { // in this order, because some depend on others
		text, ok := given[s.name]
		if !ok {
			text = s.initial
		}
		if err := s.set(&settings, text); err != nil {
			c.Problem(fmt.Sprintf("%s: %q", s.name, text), err.Error(), append(path, s.name)...)
		}
	}
}

func (c *checker) changes() {
	if len(c.Changes) == 0 {
		c.Problem("a question without changes", "add changes: [{kind: rolling-update, rate: 5/s}], or --set rolling-update=5/s", "spec")
	}
	total := 0.0
	for i, change := range c.Changes {
		path := []any{"spec", "changes", i}
		if !slices.Contains(simulate.Kinds, change.Kind) {
			var kinds []string
			for _, kind := range simulate.Kinds {
				kinds = append(kinds, string(kind))
			}
			c.Problem(fmt.Sprintf("unknown kind %q", change.Kind), specfile.Choose(string(change.Kind), "kinds of changes", kinds), append(path, "kind")...)
		}
		if change.Rate == 0 {
			c.Problem("changes without a rate", "add rate: 5/s", path...)
		}
		if arrivals := []string{scenario.Constant, scenario.Poisson}; change.Arrivals != "" && !slices.Contains(arrivals, change.Arrivals) {
			c.Problem("unknown arrivals "+change.Arrivals, specfile.Choose(change.Arrivals, "arrivals", arrivals), append(path, "arrivals")...)
		}
		c.duration(change.At, append(path, "at")...)
		c.duration(change.For, append(path, "for")...)
		if change.Drain != nil {
			c.duration(*change.Drain, append(path, "drain")...)
		}
		c.stream(change, path...)
		total += float64(change.Rate) * change.length(c.For).Seconds()
	}
	if total > mostChanges {
		c.Problem(fmt.Sprintf("%.3g changes", total), fmt.Sprintf("make them %d at most, by a shorter time or a lower rate", mostChanges), "spec", "changes")
	}
}

// stream checks that a stream makes changes, and only within the time for changes. The simulation would
// omit others, and an answer about no changes meets all conditions.
func (c *checker) stream(change Change, path ...any) {
	length := change.length(c.For)
	switch {
	case c.For <= 0 || change.At < 0 || change.For < 0 || change.Rate == 0:
		// The length is reported as another problem.
	case change.At >= c.For:
		c.Problem(fmt.Sprintf("changes from %v on, but changes are made for %v", change.At, c.For), "begin them earlier, or make for longer", path...)
	case change.At+length > c.For:
		c.Problem(fmt.Sprintf("changes from %v to %v, but changes are made for %v", change.At, change.At+length, c.For), "end them earlier, or make for longer", path...)
	case change.Arrivals != scenario.Poisson && math.Round(float64(change.Rate)*length.Seconds()) < 1:
		c.Problem(fmt.Sprintf("a rate that makes no change in %v", length), "write a higher rate or a longer time", path...)
	}
}

func (c *checker) traffic() {
	for i, t := range c.Traffic {
		path := []any{"spec", "traffic", i}
		if _, known := clients[t.Lane]; !known {
			c.Problem(fmt.Sprintf("unknown lane %q", t.Lane), specfile.Choose(t.Lane, "lanes", slices.Collect(maps.Keys(clients))), append(path, "lane")...)
		}
		if t.Rate == 0 {
			c.Problem("traffic without a rate", "add rate: 100/s", path...)
		}
		c.duration(t.Last, append(path, "last")...)
	}
}

func (c *checker) where() {
	for i, text := range c.Where {
		if _, err := figure.ParseConditions(text); err != nil {
			c.Problem(err.Error(), "see the figures in docs/predict.md", "spec", "where", i)
		}
	}
}

// sweep checks each value by setting it.
func (c *checker) sweep() {
	answers := 1
	for _, name := range slices.Sorted(maps.Keys(c.Sweep)) {
		values := c.Sweep[name]
		answers *= max(1, len(values))
		if len(values) == 0 {
			c.Problem("sweep: "+name+" has no values", "add some, such as ["+"1, 2]", "spec", "sweep", name)
		}
		for i, value := range values {
			if slices.Contains(values[:i], value) {
				c.Problem(fmt.Sprintf("sweep: %s has the value %s twice", name, value), "remove one of the two", "spec", "sweep", name, i)
			}
			changed := *c.Spec
			changed.Sweep = nil
			err := changed.Set(name, value)
			if err == nil {
				err = (&Question{Spec: changed}).Check()
			}
			if err != nil {
				c.Problem("sweep: "+err.Error(), "correct the value", "spec", "sweep", name, i)
			}
		}
	}
	if answers > mostAnswers {
		c.Problem(fmt.Sprintf("a sweep of %d combinations", answers), fmt.Sprintf("make it %d at most", mostAnswers), "spec", "sweep")
	}
}

// Point is a combination of the values of a sweep.
type Point struct {
	Values map[string]string
	Spec   Spec
}

// Points returns the combinations of the values of the sweep: the last name, in alphabetical order,
// varies fastest. Without a sweep, there is one. It returns an error if values that are valid alone are
// not valid together.
func (s *Spec) Points() ([]Point, error) {
	points := []Point{{Values: map[string]string{}, Spec: *s}}
	for _, name := range slices.Sorted(maps.Keys(s.Sweep)) {
		var next []Point
		for _, p := range points {
			for _, value := range s.Sweep[name] {
				added := Point{with(p.Values, name, value), p.Spec}
				if err := added.Spec.Set(name, value); err != nil {
					return nil, err
				}
				next = append(next, added)
			}
		}
		points = next
	}
	for _, p := range points {
		one := Question{Spec: p.Spec}
		one.Sweep = nil
		if err := one.Check(); err != nil {
			return nil, fmt.Errorf("sweep: %v: %w", p.Values, err)
		}
	}
	return points, nil
}
