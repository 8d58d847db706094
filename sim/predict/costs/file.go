// Package costs reads, writes and fits the parameters of a prediction: the costs of the parts of
// the control loop on a machine, their uncertainty, and the range in which they were measured. Its
// one rule: a value never appears without its interval and range.
package costs

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/specfile"
)

// APIVersion and Kind are the apiVersion and kind of a parameter file.
const (
	APIVersion = "windtunnel.dev/v1"
	Kind       = "Parameters"
)

// Parameters are the spec of a parameter file.
type Parameters struct {
	// The controller of the runs.
	Controller string `yaml:"controller"`
	// The machine on which the runs were made.
	Machine map[string]string `yaml:"machine"`
	// The number of processors of the machine, on which workers apply new backends.
	Processors int `yaml:"processors"`
	// The number of runs.
	Runs int `yaml:"runs"`
	// The scenarios of the runs.
	Scenarios []string `yaml:"scenarios"`
	// The range of each quantity in the runs, by name.
	Range map[string]Interval `yaml:"range"`
	// The costs, in the order of the control loop.
	Costs []Fitted `yaml:"costs"`
	// Costs of resampled runs. Predictions are made with each of them in turn.
	Draws Draws `yaml:"draws"`
	// How well predictions agree with held-out runs.
	Validation *Validation `yaml:"validation,omitempty"`
}

// Interval is a range of values.
type Interval struct {
	Low  float64 `yaml:"low" json:"low"`
	High float64 `yaml:"high" json:"high"`
}

// Fitted is a cost: a sum of terms.
type Fitted struct {
	Name string `yaml:"name"`
	What string `yaml:"what"`
	Unit string `yaml:"unit"`
	// The number of observations, and of runs that have some. 0: the cost is assumed to be 0.
	Observations int `yaml:"observations"`
	Runs         int `yaml:"runs"`
	// The standard deviation of the logarithm of the observations of a run, around their median.
	Spread float64 `yaml:"spread"`
	// The standard deviation of the logarithm of these medians, around the fitted cost.
	Between float64 `yaml:"between"`
	// The terms by name: fixed, ingress, service, endpoint, worker, MiB.
	Terms map[string]Estimate `yaml:"terms"`
}

// Estimate is a value with its 95 % confidence interval, from a bootstrap over the runs.
type Estimate struct {
	Value float64 `yaml:"value"`
	Low   float64 `yaml:"low"`
	High  float64 `yaml:"high"`
}

// Draws are the values of all terms in fits of resampled runs: together, because errors of the terms of
// a cost depend on each other.
type Draws struct {
	// The terms, as COST.TERM.
	Columns []string `yaml:"columns"`
	// A fit per row.
	Rows [][]float64 `yaml:"rows"`
}

// Validation is the agreement of predictions with held-out runs.
type Validation struct {
	Runs      int      `yaml:"runs"`
	Scenarios []string `yaml:"scenarios"`
	// The numbers of ingresses of the runs.
	Ingresses []int `yaml:"ingresses"`
	// The error by the name of the figure.
	Figures map[string]Error `yaml:"figures"`
}

// Error is how far predictions of a figure are from held-out runs, as a share of the measured values.
type Error struct {
	Runs   int     `yaml:"runs" json:"runs"`     // that have the figure
	Median float64 `yaml:"median" json:"median"` // of the errors
	Worst  float64 `yaml:"worst" json:"worst"`
	Within float64 `yaml:"within" json:"within"` // share of the runs that lie in the predicted 90 % interval
}

// The largest errors of a figure that counts as predictable.
const (
	MostMedian = 0.15
	MostWorst  = 0.40
)

// Predictable reports whether the error is small enough to rely on predictions.
func (e Error) Predictable() bool {
	return e.Runs > 0 && e.Median <= MostMedian && e.Worst <= MostWorst
}

// Sorted returns the names of the terms in their order.
func (f Fitted) Sorted() []string {
	var sorted []string
	for _, name := range termNames {
		if _, ok := f.Terms[name]; ok {
			sorted = append(sorted, name)
		}
	}
	return sorted
}

// termNames are the names of terms in files.
var termNames = [simulate.Terms]string{"fixed", "ingress", "service", "endpoint", "worker", "MiB"}

// Columns returns the names of all terms of all costs, as COST.TERM.
func Columns() []string {
	var all []string
	for _, row := range simulate.Table {
		for _, term := range row.Terms {
			all = append(all, row.Name+"."+termNames[term])
		}
	}
	return all
}

// Point returns the fitted costs.
func (p *Parameters) Point() simulate.Costs {
	var costs simulate.Costs
	for i, row := range simulate.Table {
		for _, fitted := range p.Costs {
			if fitted.Name != row.Name {
				continue
			}
			costs[i].Spread, costs[i].Between = fitted.Spread, fitted.Between
			for _, term := range row.Terms {
				costs[i].Per[term] = fitted.Terms[termNames[term]].Value
			}
		}
	}
	return costs
}

// Draw returns the costs of draw i, modulo the number of draws. Without draws, it returns Point.
func (p *Parameters) Draw(i int) simulate.Costs {
	costs := p.Point()
	if len(p.Draws.Rows) == 0 {
		return costs
	}
	values := map[string]float64{}
	for column, value := range p.Draws.Rows[i%len(p.Draws.Rows)] {
		values[p.Draws.Columns[column]] = value
	}
	for i, row := range simulate.Table {
		for _, term := range row.Terms {
			costs[i].Per[term] = values[row.Name+"."+termNames[term]]
		}
	}
	return costs
}

type document struct {
	APIVersion string   `yaml:"apiVersion" jsonschema:"required,enum=windtunnel.dev/v1"`
	Kind       string   `yaml:"kind" jsonschema:"required,enum=Parameters"`
	Metadata   metadata `yaml:"metadata" jsonschema:"required"`
	// The fitted parameters.
	Spec Parameters `yaml:"spec"`
}

type metadata struct {
	// A name: lower-case letters, digits and dashes.
	Name string `yaml:"name" jsonschema:"required"`
}

var types = specfile.TypesOf(reflect.TypeFor[document](), map[string]string{"document": "a parameter file"})

var format = specfile.Format{APIVersion: APIVersion, Kind: Kind}

// largest is the maximum size of a parameter file, in bytes.
const largest = 8 << 20

// Load reads a parameter file. Its error joins all specfile.Problems of the file.
func Load(path string) (*Parameters, error) {
	data, err := readfile.Read(path, largest)
	if err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	return Parse(path, data)
}

// Parse checks a parameter file that has been read already. name is the name of the file in errors.
func Parse(name string, data []byte) (*Parameters, error) {
	found := &specfile.Problems{File: name, Types: types}
	documents := format.Split(data, found)
	if len(documents) == 0 {
		return nil, found.Err()
	}
	at := specfile.Position{Root: documents[0]}
	var d document
	if format.Decode(data, at, &d, found) {
		d.Spec.check(at, found)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	return &d.Spec, nil
}

const again = "let windtunnel calibrate write the file again"

// check finds costs and terms that the simulation does not have, and those that are missing.
func (p *Parameters) check(at specfile.Position, found *specfile.Problems) {
	if p.Processors < 1 {
		found.Add(at.Line("spec", "processors"), fmt.Sprintf("%d processors", p.Processors), "write 1 or more")
	}
	rows := map[string]simulate.Row{}
	for _, row := range simulate.Table {
		rows[row.Name] = row
	}
	for i, fitted := range p.Costs {
		line := at.Line("spec", "costs", i)
		row, known := rows[fitted.Name]
		if !known {
			found.Add(line, "unknown cost "+fitted.Name, again)
			continue
		}
		delete(rows, fitted.Name)
		if fitted.Spread < 0 || fitted.Between < 0 {
			found.Add(line, "a negative spread of "+fitted.Name, again)
		}
		var want []string
		for _, term := range row.Terms {
			want = append(want, termNames[term])
		}
		if got := slices.Sorted(maps.Keys(fitted.Terms)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			found.Add(line, fmt.Sprintf("the cost %s has the terms %s, not %s", fitted.Name, strings.Join(got, ", "), strings.Join(want, ", ")), again)
		}
		for name, term := range fitted.Terms {
			if !(term.Value >= 0) {
				found.Add(at.Line("spec", "costs", i, "terms", name), fmt.Sprintf("the term %s of %s is %v", name, fitted.Name, term.Value), "write 0 or more")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		found.Add(at.Line("spec", "costs"), "the cost "+name+" is missing", again)
	}
	if len(p.Draws.Rows) > 0 && !slices.Equal(p.Draws.Columns, Columns()) {
		found.Add(at.Line("spec", "draws", "columns"), "the columns are not the terms of all costs", again)
	}
	for i, row := range p.Draws.Rows {
		if len(row) != len(p.Draws.Columns) {
			found.Add(at.Line("spec", "draws", "rows", i), fmt.Sprintf("%s for %s", plural.Of(len(row), "value"), plural.Of(len(p.Draws.Columns), "column")), again)
		}
	}
}

// Marshal returns a parameter file. Equal input gives the same bytes.
func (p *Parameters) Marshal(name string) ([]byte, error) {
	var node yaml.Node
	if err := node.Encode(document{APIVersion: APIVersion, Kind: Kind, Metadata: metadata{Name: name}, Spec: *p}); err != nil {
		return nil, err
	}
	compact(&node)
	var file bytes.Buffer
	file.WriteString("# Written by windtunnel calibrate. docs/predict.md says what the costs are.\n")
	encoder := yaml.NewEncoder(&file)
	encoder.SetIndent(2)
	if err := encoder.Encode(&node); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// compact writes lists and mappings that contain only scalars on one line.
func compact(node *yaml.Node) {
	scalars := len(node.Content) > 0
	for _, child := range node.Content {
		compact(child)
		scalars = scalars && child.Kind == yaml.ScalarNode
	}
	short := node.Kind == yaml.SequenceNode || len(node.Content) <= 2*4
	if scalars && short {
		node.Style = yaml.FlowStyle
	}
}
