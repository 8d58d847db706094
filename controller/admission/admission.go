// Package admission decides which ingresses the API server should reject. It stands between the API
// server's validating webhook and the stages that would serve an ingress: it compiles the
// configuration with the new ingress in it and discards the result. Its one rule: a review changes
// nothing; nothing here can reach nginx.
package admission

import (
	"fmt"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// Reviewer reviews ingresses against the current cluster.
type Reviewer struct {
	// Cluster returns the current cluster.
	Cluster func() snapshot.Snapshot
	// Input returns the inputs of the configuration besides the cluster.
	Input func() compile.Input
	// Inspect implements --deep-inspect: it returns an error if a field of an ingress looks like
	// nginx directives.
	Inspect func(*networkingv1.Ingress) error
	// Serves reports whether an ingress has a class and a namespace that this controller serves.
	Serves func(*networkingv1.Ingress) bool

	DisableCatchAll bool // --disable-catch-all
	OnlyNew         bool // --disable-full-test: render the new ingress alone
}

// Verdict is the answer to a review.
type Verdict struct {
	Denial   error    // nil: the ingress may be stored
	Warnings []string // for the author of the ingress
	Ignored  bool     // another controller serves the ingress, or it is being deleted: nothing was checked
	Cost     metrics.Admission
}

// Review decides whether an ingress may be stored. It runs its checks in the order of
// ingress-nginx. The error of the first one that fails becomes Verdict.Denial.
func (r *Reviewer) Review(ingress *networkingv1.Ingress) Verdict {
	if ingress == nil || ingress.DeletionTimestamp != nil {
		return Verdict{Ignored: true}
	}
	if err := r.Inspect(ingress); err != nil {
		return Verdict{Denial: err}
	}
	if !r.Serves(ingress) {
		return Verdict{Ignored: true}
	}
	if r.DisableCatchAll && ingress.Spec.DefaultBackend != nil {
		return Verdict{Denial: fmt.Errorf("spec.defaultBackend: not allowed by --disable-catch-all of this controller")}
	}
	cluster, input := r.Cluster(), r.Input()
	opts, _ := compile.Options(cluster.ConfigMaps[input.ConfigMap], input) // each sync reports its findings
	v := Verdict{Warnings: warnings(ingress, opts)}
	if v.Denial = checkAlone(ingress, opts); v.Denial != nil {
		return v
	}
	r.try(&v, with(neighboursOf(cluster, ingress, opts), ingress), input, ingress)
	return v
}

// try compiles and renders the configuration with the new ingress.
func (r *Reviewer) try(v *Verdict, cluster snapshot.Snapshot, input compile.Input, ingress *networkingv1.Ingress) {
	began := time.Now()
	built := compile.Build(cluster, input)
	v.Cost.Tested, v.Cost.Test = len(cluster.Ingresses), time.Since(began)
	v.Warnings = append(v.Warnings, about(ingress, built.Findings)...)
	if v.Denial = overlap(ingress, cluster.Ingresses, built.Input.Options); v.Denial != nil {
		return
	}
	v.Cost.Rendered = len(cluster.Ingresses)
	if r.OnlyNew {
		cluster.Ingresses = []*networkingv1.Ingress{ingress}
		built = compile.Build(cluster, input)
		v.Cost.Rendered = 1
	}
	began = time.Now()
	conf, err := built.Conf()
	v.Cost.Render, v.Cost.Size = time.Since(began), len(conf)
	v.Denial = err
}

// about returns the findings about one ingress, for its author.
func about(ingress *networkingv1.Ingress, findings []model.Finding) []string {
	var texts []string
	object := "Ingress " + snapshot.NameOf(ingress).String()
	for _, finding := range findings {
		if len(texts) == mostMessages {
			return append(texts, "and more")
		}
		if finding.Object == object {
			texts = append(texts, strings.TrimPrefix(finding.String(), object+": "))
		}
	}
	return texts
}
