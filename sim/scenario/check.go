package scenario

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/distribution/reference"
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/adapters"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/specfile"
)

// checker looks for values that decode but are not valid.
type checker struct {
	*Scenario
	*specfile.Checker
	nodes []*yaml.Node // of the manifests
	known Known
}

func check(s *Scenario, at specfile.Position, manifests []*yaml.Node, known Known, found *specfile.Problems) {
	c := &checker{Scenario: s, Checker: specfile.NewChecker(at, found), nodes: manifests, known: known}
	c.name("scenario", s.Name, "metadata", "name")
	c.numbers()
	c.bounds()
	c.subjects()
	c.population()
	c.traffic()
	c.timeline()
	specfile.CheckRepeated(s.Manifests, found)
	c.unknownKeys()
	c.expectations(s.Expect)
	c.about()
	c.comparison()
	c.control()
}

// name checks a name that becomes part of file names and of report rows.
func (c *checker) name(kind, name string, path ...any) {
	if what := badName(kind, name); what != "" {
		c.Problem(what, nameShape, path...)
	}
}

// nameShape says how to mend a name.
const nameShape = "use lower-case letters, digits and dashes, at most 63"

// badName returns what is wrong with a name, or "".
func badName(kind, name string) string {
	switch {
	case name == "":
		return "a " + kind + " without a name"
	case len(validation.IsDNS1123Label(name)) > 0:
		return fmt.Sprintf("%q cannot be the name of a %s", name, kind)
	}
	return ""
}

// CheckSubjectName returns an error if a scenario cannot have a subject with this name.
func CheckSubjectName(name string) error {
	if what := badName("subject", name); what != "" {
		return errors.New(what + "; " + nameShape)
	}
	return nil
}

func (c *checker) numbers() {
	if c.Rounds < 1 {
		c.Problem(fmt.Sprintf("%d rounds", c.Rounds), "make it 1 or more", "spec", "rounds")
	}
	c.notNegative(c.Settle, "spec", "settle")
	if c.Granularity <= 0 {
		c.Problem(fmt.Sprintf("granularity: %v is not above zero", c.Granularity), fmt.Sprintf("write a duration such as 500ms, or remove it for %v", DefaultGranularity), "spec", "granularity")
	}
}

func (c *checker) notNegative(d time.Duration, path ...any) {
	if d < 0 {
		c.Problem(fmt.Sprintf("%v: %v is below zero", path[len(path)-1], d), "make it 0s or more", path...)
	}
}

func (c *checker) subjects() {
	first := map[string]int{}
	for i, s := range c.Subjects {
		path := []any{"spec", "subjects", i}
		c.name("subject", s.Name, append(path, "name")...)
		if line, again := first[s.Name]; again && s.Name != "" {
			c.Problem(fmt.Sprintf("a second subject named %s; the first is at line %d", s.Name, line), "give it another name", append(path, "name")...)
		} else {
			first[s.Name] = s.Line
		}
		if image, ok := strings.CutPrefix(s.Controller, ImagePrefix); ok && !IsImageFile(image) {
			if _, err := reference.ParseNormalizedNamed(image); err != nil {
				c.Problem(fmt.Sprintf("controller %q: %v", s.Controller, err), "write image:NAME, such as image:registry.example/controller:v1, or the path of a file, such as image:./controller.tar", append(path, "controller")...)
			}
		}
		if s.Image != "" { // it was not moved to the controller
			c.Problem("a subject with a controller and an image", "keep either controller: or image:", append(path, "image")...)
		}
		if s.Adapter != "" && !adapters.IsPath(s.Adapter) && !slices.Contains(adapters.Names(), s.Adapter) {
			c.Problem("unknown adapter "+s.Adapter, specfile.Choose(s.Adapter, "adapters", adapters.Names())+"; another one is named by the path of its file, such as ./adapter.yaml", append(path, "adapter")...)
		}
		for flag := range s.Flags {
			if strings.HasPrefix(flag, "-") {
				c.Problem("flag "+flag+" is written with dashes", "write "+strings.TrimLeft(flag, "-"), append(path, "flags", flag)...)
			}
		}
		c.expectations(s.Expect)
	}
}

// populationUnclear reports whether a part of the population did not decode. What the population lacks is
// then not known.
func (c *checker) populationUnclear() bool { return c.BrokenWithin("spec", "population") }

func (c *checker) population() {
	p := c.Population
	if p.IsZero() {
		return
	}
	if p.Cluster != "" {
		if p.Generated() || p.Recording != "" || p.Namespace != "" {
			c.Problem("a population that is imported, and has other fields", "keep either cluster: or the other fields", "spec", "population")
		}
		return
	}
	c.name("namespace", p.Namespace, "spec", "population", "namespace")
	if p.Recording != "" {
		if !filepath.IsLocal(p.Recording) {
			c.Problem(fmt.Sprintf("recording %q is outside the scenario's folder", p.Recording), "copy it into that folder", "spec", "population", "recording")
		}
		if p.Namespace != RecordedNamespace {
			c.Problem(fmt.Sprintf("namespace %s: a recording's population is in the namespace %s", p.Namespace, RecordedNamespace), "remove namespace:", "spec", "population", "namespace")
		}
		if p.Generated() {
			c.Problem("a population that is both recorded and generated", "keep either recording: or the other fields", "spec", "population")
		}
		return
	}
	for _, count := range []struct {
		key string
		n   int
	}{{"services", p.Services}, {"pods", p.Pods}, {"ingresses", p.Ingresses}} {
		known := c.At.Has("spec", "population", count.key) || !c.populationUnclear()
		if count.n < 1 && known && (count.key != "ingresses" || p.Services >= 1) {
			c.Problem(fmt.Sprintf("a population of %d %s", count.n, count.key), "make it 1 or more", "spec", "population", count.key)
		}
	}
	if p.Paths < 0 || p.Paths > MostPaths {
		c.Problem(fmt.Sprintf("%d paths", p.Paths), fmt.Sprintf("make it 0 to %d", MostPaths), "spec", "population", "paths")
	} else if total := p.Paths * max(p.Ingresses, 1); total > MostAllPaths {
		c.Problem(fmt.Sprintf("%s with %s each", plural.Of(p.Ingresses, "ingress", "ingresses"), plural.Of(p.Paths, "path")), fmt.Sprintf("make them %d paths at most", MostAllPaths), "spec", "population", "paths")
	}
	if many := TooMany(p.Services, p.Pods, p.Ingresses); many != "" {
		c.Problem("a population too large: "+many, "ask for fewer", "spec", "population")
	}
}

func (c *checker) expectations(list []Expectation) {
	for _, e := range list {
		if c.Broken(e.Line) {
			continue
		}
		if e.Expression == "" {
			c.ProblemAt(e.Line, "an empty expectation", "write one, such as reloads == 0")
		} else if c.known.CheckExpression != nil {
			if err := c.known.CheckExpression(e.Expression); err != nil {
				c.ProblemAt(e.Line, textOf(err), "docs/scenarios.md lists what is measured")
			}
		}
	}
}

func (c *checker) about() {
	if c.known.CheckMeasurement == nil {
		return
	}
	for i, name := range c.About {
		if err := c.known.CheckMeasurement(name); err != nil {
			c.Problem("about: "+err.Error(), "windtunnel list measurements lists them", "spec", "about", i)
		}
	}
}

// celMarker matches the lines in which CEL repeats the source and points into it.
var celMarker = regexp.MustCompile(`(?m)^\s*\|.*$`)

// textOf returns the text of an error, without the source lines that CEL adds below it.
func textOf(err error) string {
	return strings.Join(strings.Fields(celMarker.ReplaceAllString(err.Error(), "")), " ")
}
