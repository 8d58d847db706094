// Package compile computes the state that nginx should have for a cluster. It stands between the
// snapshot and the plan, and calls the pure stages in order: options, model, findings, rendering
// and encoding. Its one rule: all users of the result (the sync, a trial with nginx -t, the
// webhook, explain) call it, and none calls the stages directly.
package compile

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/internal/inplace"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// Input contains all inputs of nginx's state besides the cluster.
type Input struct {
	// Input describes nginx and the machine. Its Options are the flags; their Config has the
	// defaults of the ConfigMap.
	render.Input
	// ConfigMap is the name of the controller's own ConfigMap; empty if there is none.
	ConfigMap types.NamespacedName
	// Databases maps the path of each GeoIP database to a text that changes when the file does.
	Databases map[string]string
	// Writable returns an error if a file cannot be written at a path. It is called for the path of
	// nginx's tracer when the ConfigMap sets one. nil accepts every path.
	Writable func(path string) error
	// Now determines which certificates expire soon; zero omits these findings.
	Now time.Time
}

// Built is the first half of a compilation: the model and the findings.
type Built struct {
	Model    *model.Model
	Findings []model.Finding
	// Input is the argument of Build, with the ConfigMap's values in its options.
	Input Input
}

// Conf renders nginx.conf, for callers that need nothing else from the second half.
func (b Built) Conf() ([]byte, error) { return render.Render(b.Model, b.Input.Input) }

// Compiled is the result of a compilation: the model, the findings, and the state for nginx.
type Compiled struct {
	Built
	State plan.State
}

// Compile returns the model, the findings and the state for a cluster. Errors come from the
// template and have the form "file:line: message". The first half is valid even then.
func Compile(cluster snapshot.Snapshot, in Input) (Compiled, error) {
	return new(Compiler).Compile(cluster, in)
}

// Build returns the first half of Compile.
func Build(cluster snapshot.Snapshot, in Input) Built { return new(Compiler).Build(cluster, in) }

// Compiler compiles a sequence of clusters and reuses the results that a change does not affect.
// Its results are the same as those of Compile. The zero value is ready to use.
type Compiler struct {
	options optionsMemo
	models  model.Memo
	states  plan.Memo
	last    Built
	inputs  inplace.Comparer[render.Input]
	expiry  expiry
	// The following are parts of the findings of last: what nginx lacks, and bad values of the
	// ConfigMap.
	lacks, ofOptions []model.Finding
}

// Compile returns the result of the function Compile.
func (c *Compiler) Compile(cluster snapshot.Snapshot, in Input) (Compiled, error) {
	built := c.Build(cluster, in)
	state, err := c.Encode(built)
	return Compiled{built, state}, err
}

// Build performs the first half of Compile: options, model and findings.
func (c *Compiler) Build(cluster snapshot.Snapshot, in Input) Built {
	opts, ofOptions := c.options.of(cluster.ConfigMaps[in.ConfigMap], in)
	in.Options = opts
	wanted, ofModel := c.models.Build(cluster, opts)
	ofCertificates, same := c.expiry.findings(wanted, in.Now)
	if !wanted.SameButEndpoints(c.last.Model) || !c.inputs.Equal(in.Input, &c.last.Input.Input) {
		c.lacks, same = render.Findings(wanted, in.Input), false
	}
	next := Built{Model: wanted, Input: in, Findings: c.last.Findings}
	if !same || !slices.Equal(ofOptions, c.ofOptions) { // the list may be long
		c.ofOptions, next.Findings = ofOptions, slices.Concat(ofOptions, ofModel, c.lacks, ofCertificates)
	}
	c.last = next
	return next
}

// Encode performs the second half of Compile: rendering and encoding.
func (c *Compiler) Encode(built Built) (plan.State, error) {
	state, err := c.states.Next(built.Model, built.Input.Input)
	if err != nil {
		return plan.State{}, err
	}
	if built.Input.Options.Config.GeoIP2AutoReloadMinutes > 0 { // nginx itself checks for changes
		return state, nil
	}
	return state.With(built.Input.Databases), nil
}
