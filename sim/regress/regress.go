// Package regress finds the effects of a change of a controller's template, Lua code, nginx, flags
// or ConfigMap on the clusters of a corpus. It stands between two sides, which render and test
// configurations, and the report. Its one rule: it knows a side only as an interface, and renders
// nothing itself.
//
// The parts of a comparison are independent: what is rendered (rendered.go), what nginx -t says
// about it (tested.go), what it answers (answers.go), and what it costs (cost.go). Another part
// gets its own file, a field in Report and a line in Run.
package regress

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/sim/regress/conf"
	"windtunnel.dev/sim/regress/speed"
)

// ConfigMap is the name of the controller's ConfigMap in a cluster, unless a flag names another one. It
// is that of ingress-nginx's own manifests.
var ConfigMap = types.NamespacedName{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"}

// Cluster is a cluster of the corpus. NewCluster and NewClusterOfFile make one.
type Cluster struct {
	Name      string
	Manifests []byte // YAML documents
	Case      bool   // they are those of a behaviour case
	source    func() (*snapshot.Manifests, error)
}

// NewCluster returns a cluster with some manifests. Errors about them name the cluster.
func NewCluster(name string, manifests []byte) Cluster {
	return NewClusterOfFile(name, name, manifests)
}

// NewClusterOfFile returns a cluster with the manifests of a file. Errors about them name the file.
func NewClusterOfFile(name, file string, manifests []byte) Cluster {
	return Cluster{Name: name, Manifests: manifests, source: sync.OnceValues(func() (*snapshot.Manifests, error) {
		return snapshot.FromYAML(snapshot.File{Name: file, Data: manifests})
	})}
}

// Source returns the objects of the cluster. An error has a line "file:line: what" for each invalid
// document.
func (c Cluster) Source() (*snapshot.Manifests, error) { return c.source() }

// Site is a line of a template.
type Site struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1
}

func (s Site) String() string { return fmt.Sprintf("%s:%d", s.File, s.Line) }

// Origins returns the lines of the template that wrote a line of nginx.conf: for each piece of it,
// the line with its text, the conditions and loops around that, and the calls of templates that led
// there.
type Origins func(line int) [][]Site

// Side is one side of a comparison. Its methods are safe for concurrent use.
type Side interface {
	// Template returns the files of the template by name, as sites name them.
	Template() map[string]string
	// Render returns the nginx.conf of a cluster.
	Render(Cluster) ([]byte, error)
	// Trace returns the same, and where its lines come from.
	Trace(Cluster) ([]byte, Origins, error)
	// Test runs nginx -t on the configuration of a cluster. It returns nil if nginx accepts it. An
	// error means that the test could not be made.
	Test(context.Context, Cluster) (*Refusal, error)
}

// Refusal says why nginx -t refuses a configuration.
type Refusal struct {
	Reason string
	Line   int // of nginx.conf; 0 if nginx names none
}

// Part is a part of a comparison.
type Part string

// The parts.
const (
	RenderedPart  Part = "rendered"  // the configurations as trees
	TestedPart    Part = "tested"    // nginx -t
	BehaviourPart Part = "behaviour" // answers to behaviour cases
	SpeedPart     Part = "speed"     // what both sides cost
)

// Parts lists all parts, in the order of reports. DefaultParts are those that run if none is named:
// measuring takes minutes, and a quiet machine.
var (
	Parts        = []Part{RenderedPart, TestedPart, BehaviourPart, SpeedPart}
	DefaultParts = Parts[:3]
)

// Options describe a comparison.
type Options struct {
	// Base and Head render and test. They are needed for the parts rendered and tested only.
	Base, Head Side
	Clusters   []Cluster
	Parts      []Part // empty: DefaultParts
	// SameProgram says that both sides run the same nginx with the same Lua code, so that equal
	// configurations need one test only.
	SameProgram bool
	// Behaviour runs the part behaviour; nil: nothing is asked.
	Behaviour func(ctx context.Context, progress func(stage string, done, of int)) (*Behaviour, error)
	// Speed runs the part speed; nil: nothing is measured.
	Speed func(ctx context.Context, progress func(stage string, done, of int)) (*speed.Result, error)
	// Settings are the settings that differ between the sides, such as config.keep-alive=7.
	Settings []string
	// HeadWith returns base with some settings of head, and with head's Lua code. TemplateSetting
	// stands for the template. It serves to find the settings that explain a difference; nil: a
	// setting is named only if it is the only one that differs.
	HeadWith func(settings []string) (Side, error)
	// Minimise looks for the smallest cluster that shows each kind of difference.
	Minimise bool
	// Expected are the differences that are wanted. Today decides which of them have expired.
	Expected []Expectation
	Today    time.Time
	// Progress is called at each step. It may be nil.
	Progress func(stage string, done, of int)
}

// Run compares the sides on all clusters. The error of a canceled context is returned as it is.
func Run(ctx context.Context, o Options) (*Report, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if len(o.Parts) == 0 {
		o.Parts = DefaultParts
	}
	r := &runner{Options: o}
	report := &Report{Schema: Schema, Parts: o.Parts, Kinds: []Kind{}, Failures: []Failure{}}
	if r.does(RenderedPart) || r.does(TestedPart) {
		if err := r.configurations(ctx, report); err != nil {
			return nil, err
		}
	}
	if err := r.behave(ctx, report); err != nil {
		return nil, err
	}
	if err := r.cost(ctx, report); err != nil {
		return nil, err
	}
	report.expect(o.Expected, o.Today.Format(time.DateOnly))
	report.Outcome = report.outcome()
	return report, nil
}

// configurations compares what the sides render for the clusters.
func (r *runner) configurations(ctx context.Context, report *Report) error {
	if len(r.Clusters) == 0 {
		return errors.New("the corpus has no clusters")
	}
	r.changed = changedLines(r.Base.Template(), r.Head.Template())
	report.Clusters.All = len(r.Clusters)
	if err := r.compare(ctx, report); err != nil {
		return err
	}
	if note, err := r.unrendered(ctx); err != nil {
		return err
	} else if note != "" {
		report.Notes = append(report.Notes, note)
	}
	if r.Minimise {
		if err := r.minimiseAll(ctx, report); err != nil {
			return err
		}
	}
	return r.explainBySettings(ctx, report)
}

type runner struct {
	Options
	changed changes
}

func (r *runner) does(part Part) bool { return slices.Contains(r.Parts, part) }

// rendering is what one side renders for a cluster.
type rendering struct {
	text    []byte
	tree    []*conf.Directive
	origins Origins // nil: not traced
	failed  *failing
}

// failing is a reason why a side cannot serve a cluster.
type failing struct {
	stage  string
	reason string
	line   int // of nginx.conf; 0 if there is none
}

// render renders a cluster and reads the result.
func render(side Side, c Cluster, traced bool) rendering {
	var r rendering
	var err error
	if traced {
		r.text, r.origins, err = side.Trace(c)
	} else {
		r.text, err = side.Render(c)
	}
	if err != nil {
		r.failed = &failing{stage: StageRender, reason: err.Error()}
		return r
	}
	if r.tree, err = conf.Parse(string(r.text)); err != nil {
		r.failed = &failing{stage: StageParse, reason: err.Error()}
		fmt.Sscanf(err.Error(), "line %d:", &r.failed.line)
	}
	return r
}

// both does something for both sides at the same time.
func both(base, head func()) {
	done := make(chan struct{})
	go func() { defer close(done); base() }()
	head()
	<-done
}
