// Package explain shows what the controller would do after a change of manifests, and why. It
// stands between two sets of manifests and the person who is about to apply the second one. Its one
// rule: it runs the controller's own stages, so the explanation matches the controller's behaviour.
// It uses no cluster and no nginx, so it misses errors that only `nginx -t` finds.
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

// Options describe how the controller runs.
type Options struct {
	Flags     options.Options // its Config holds the defaults, which the ConfigMap overrides
	ConfigMap types.NamespacedName
	// IngressClass is the name of the class that the controller serves. Ingresses without a class
	// are also served.
	IngressClass string
	Template     *render.Template // the user's nginx.tmpl; nil is ours
}

// Of returns the steps of the controller when the manifests in a cluster change from old to next.
// Errors come from the template and have the form "file:line: message".
func Of(old, next *snapshot.Manifests, o Options) (Explanation, error) {
	before, err := o.outcome(snapshot.Take(old), nil)
	if err != nil {
		return Explanation{}, err
	}
	after, err := o.outcome(snapshot.Take(next), before.ingresses)
	if err != nil {
		return Explanation{}, err
	}
	explanation := Explanation{
		Schema:   Schema,
		Steps:    steps(before.state, plan.Diff(before.state, after.state)),
		Findings: findings(before.findings, after.findings),
		LeftOut:  after.leftOut,
		Unread:   unread(old, next),
	}
	explanation.Reload = slices.ContainsFunc(explanation.Steps, func(s Step) bool { return s.Kind == plan.Reload })
	return explanation, nil
}

// outcome is the state and findings that the controller computes from a cluster.
type outcome struct {
	ingresses []*networkingv1.Ingress // that the controller serves
	leftOut   []string                // ingresses of other classes
	state     plan.State
	findings  []model.Finding
}

func (o Options) outcome(cluster snapshot.Snapshot, before []*networkingv1.Ingress) (outcome, error) {
	var result outcome
	input := o.input()
	cluster, rejected, leftOut := served(cluster, before, o.IngressClass, input)
	result.ingresses, result.leftOut = cluster.Ingresses, leftOut
	compiled, err := compile.Compile(cluster, input)
	result.state, result.findings = compiled.State, append(rejected, compiled.Findings...)
	return result, err
}

// input describes a machine whose nginx has every module, as in ingress-nginx's image. It is the
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
	all := func(string) bool { return true }
	in.Options.Variables, _ = options.PossibleVariables(all, all)
	in.Options.ForeignTemplate = o.Template != nil
	for _, module := range render.OptionalModules() {
		in.Optional[module] = nil
	}
	return compile.Input{Input: in, ConfigMap: o.ConfigMap}
}
