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
	opts := o.Flags
	opts.ForeignTemplate = o.Template != nil
	var ofOptions []options.Finding
	if config := cluster.ConfigMaps[o.ConfigMap]; config != nil {
		defaults := opts.Config
		opts.Config, ofOptions = options.Parse(config.Data, defaults)
		var unknown []options.Finding
		opts, unknown = opts.KeepUsable(defaults)
		ofOptions = append(ofOptions, unknown...)
	}
	for _, finding := range ofOptions {
		m.findings = append(m.findings, model.Finding{Object: "ConfigMap " + o.ConfigMap.String(), Reason: finding.String()})
	}
	cluster.Ingresses, m.leftOut = ofClass(o.IngressClass, cluster.Ingresses)
	var refused []model.Finding
	cluster, refused = take(cluster, before, opts)
	m.ingresses = cluster.Ingresses

	built, ofModel := model.Build(cluster, opts)
	in := machine(opts)
	in.Template = o.Template
	m.findings = slices.Concat(m.findings, refused, ofModel, render.Findings(built, in))
	var err error
	m.state, err = plan.Next(built, in)
	return m, err
}

// machine is one with an nginx that has every module, as ingress-nginx's image
// does. What it is like is the same before and after.
func machine(opts options.Options) render.Input {
	in := render.Input{
		Options:        opts,
		Optional:       make(map[string][]string),
		HTTP2Directive: true,
		StreamRealIP:   true,
		Resolvers:      []string{"10.96.0.10"},
		Backlog:        511,
		FileLimit:      65536,
	}
	for _, module := range render.OptionalModules() {
		in.Optional[module] = nil
	}
	return in
}
