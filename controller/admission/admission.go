// Package admission tells the API server which ingresses it should not store.
// It stands between the API server's validating webhook and the stages that
// would serve an ingress: it works out the configuration with the new ingress
// in it and throws it away. Its one rule: a question changes nothing; nothing
// here can reach nginx.
package admission

import (
	"fmt"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// Checker checks ingresses against the cluster as it is.
type Checker struct {
	// Cluster is the cluster of now.
	Cluster func() snapshot.Snapshot
	// Options are the flags and what the ConfigMap of a cluster says.
	Options func(snapshot.Snapshot) options.Options
	// Input is what rendering needs to know now; its Options are those of Options.
	Input func() render.Input
	// Inspect is --deep-inspect: what in an ingress looks like directives of nginx.
	Inspect func(*networkingv1.Ingress) error
	// Serves says whether an ingress is of a class and namespace that this
	// controller serves.
	Serves func(*networkingv1.Ingress) bool

	DisableCatchAll bool // --disable-catch-all
	OnlyNew         bool // --disable-full-test: render the new ingress alone
}

// Verdict is the answer to a question.
type Verdict struct {
	Refusal  error    // nil: the ingress may be stored
	Warnings []string // for whoever wrote it
	Cost     metrics.Admission
}

// Check tells whether an ingress may be stored. The checks are in the order of
// ingress-nginx; the first that fails is the refusal.
func (c *Checker) Check(ingress *networkingv1.Ingress) Verdict {
	if ingress == nil || ingress.DeletionTimestamp != nil {
		return Verdict{}
	}
	if err := c.Inspect(ingress); err != nil {
		return Verdict{Refusal: err}
	}
	if !c.Serves(ingress) {
		return Verdict{}
	}
	if c.DisableCatchAll && ingress.Spec.DefaultBackend != nil {
		return Verdict{Refusal: fmt.Errorf("spec.defaultBackend: this controller takes none (--disable-catch-all)")}
	}
	cluster := c.Cluster()
	opts := c.Options(cluster)
	v := Verdict{Warnings: warnings(ingress, opts)}
	if v.Refusal = checkAlone(ingress, opts); v.Refusal != nil {
		return v
	}
	c.try(&v, with(near(cluster, ingress, opts), ingress), opts, ingress)
	return v
}

// try works out and renders the configuration with the new ingress.
func (c *Checker) try(v *Verdict, cluster snapshot.Snapshot, opts options.Options, ingress *networkingv1.Ingress) {
	began := time.Now()
	built, findings := model.Build(cluster, opts)
	v.Cost.Tested, v.Cost.Test = len(cluster.Ingresses), time.Since(began)
	v.Warnings = append(v.Warnings, about(ingress, findings)...)
	if v.Refusal = overlap(ingress, cluster.Ingresses, opts); v.Refusal != nil {
		return
	}
	v.Cost.Rendered = len(cluster.Ingresses)
	if c.OnlyNew {
		cluster.Ingresses = []*networkingv1.Ingress{ingress}
		built, _ = model.Build(cluster, opts)
		v.Cost.Rendered = 1
	}
	input := c.Input()
	input.Options = opts
	began = time.Now()
	conf, err := render.Render(built, input)
	v.Cost.Render, v.Cost.Size = time.Since(began), len(conf)
	v.Refusal = err
}

// about are the findings about one ingress, for its author.
func about(ingress *networkingv1.Ingress, findings []model.Finding) []string {
	var texts []string
	object := "Ingress " + snapshot.NameOf(ingress).String()
	for _, finding := range findings {
		if len(texts) == mostTold {
			return append(texts, "and more")
		}
		if finding.Object == object {
			texts = append(texts, strings.TrimPrefix(finding.String(), object+": "))
		}
	}
	return texts
}
