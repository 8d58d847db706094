// Package explain says what a change of manifests makes the controller do, and
// why. It stands between two sets of manifests and whoever is about to apply
// the second. Its one rule: it calls the controller's own stages, so what it
// says is what is done; it asks no cluster and no nginx, so what only `nginx
// -t` finds is not in it.
package explain

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// Options say how the controller is run.
type Options struct {
	Flags     options.Options // its Config is the default, which the ConfigMap changes
	ConfigMap types.NamespacedName
	// IngressClass is the class that is served, by name. Ingresses that name
	// none are served, too.
	IngressClass string
	Template     *render.Template // the user's nginx.tmpl; nil is ours
}

// Of says what the controller does when a cluster that holds the manifests old
// comes to hold next. An error is one of the template: "file:line: what".
func Of(old, next snapshot.Source, o Options) (Explanation, error) {
	before, err := o.moment(snapshot.Take(old), nil)
	if err != nil {
		return Explanation{}, err
	}
	after, err := o.moment(snapshot.Take(next), before.ingresses)
	if err != nil {
		return Explanation{}, err
	}
	explanation := Explanation{
		Schema:   Schema,
		Steps:    steps(before.state, plan.Diff(before.state, after.state)),
		Findings: findings(before.findings, after.findings),
		LeftOut:  after.leftOut,
	}
	explanation.Reload = slices.ContainsFunc(explanation.Steps, func(s Step) bool { return s.Kind == plan.Reload })
	return explanation, nil
}

// moment is what the controller makes of a cluster.
type moment struct {
	ingresses []*networkingv1.Ingress // taken
	leftOut   []string                // ingresses of other classes
	state     plan.State
	findings  []model.Finding
}

func (o Options) moment(cluster snapshot.Snapshot, before []*networkingv1.Ingress) (moment, error) {
	var m moment
	input := o.input()
	opts, _ := compile.Options(cluster.ConfigMaps[o.ConfigMap], input)
	cluster.Ingresses, m.leftOut = ofClass(o.IngressClass, cluster.Ingresses)
	cluster, refused := take(cluster, before, opts)
	m.ingresses = cluster.Ingresses
	compiled, err := compile.Compile(cluster, input)
	m.state, m.findings = compiled.State, append(refused, compiled.Findings...)
	return m, err
}

// input describes a machine whose nginx has every module, as ingress-nginx's image does. It is the
// same before and after the change.
func (o Options) input() compile.Input {
	in := render.Input{
		Options:        o.Flags,
		Template:       o.Template,
		Optional:       make(map[string][]string),
		HTTP2Directive: true,
		StreamRealIP:   true,
		Resolvers:      []string{"10.96.0.10"},
		Backlog:        511,
		FileLimit:      65536,
	}
	in.Options.ForeignTemplate = o.Template != nil
	for _, module := range render.OptionalModules() {
		in.Optional[module] = nil
	}
	return compile.Input{Input: in, ConfigMap: o.ConfigMap}
}
