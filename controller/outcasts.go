package controller

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// outcasts are the ingresses that nginx refuses, each until it changes, or
// until what holds for all does: the controller's ConfigMap.
type outcasts struct {
	byName map[types.NamespacedName]outcast
	config *corev1.ConfigMap // under which they were cast out

	taken  []*networkingv1.Ingress // of the last configuration that nginx took
	latest map[types.NamespacedName]*networkingv1.Ingress
}

type outcast struct {
	refused *networkingv1.Ingress
	instead *networkingv1.Ingress // its earlier version, which nginx took; nil is none
	reason  string
}

func (o outcast) finding() model.Finding {
	reason := "nginx refuses it (%s); it is left out until it changes"
	if o.instead != nil {
		reason = "nginx refuses it (%s); its earlier version is served until it changes"
	}
	return model.Finding{Object: "Ingress " + snapshot.NameOf(o.refused).String(), Reason: fmt.Sprintf(reason, o.reason)}
}

// from is the cluster without the outcasts, and a finding for each of them. It
// forgets those that are not in the cluster, so that must be the whole one.
func (o *outcasts) from(cluster snapshot.Snapshot, config *corev1.ConfigMap) (snapshot.Snapshot, []model.Finding) {
	if config != o.config {
		o.byName, o.config = nil, config
	}
	if len(o.byName) == 0 {
		return cluster, nil
	}
	var findings []model.Finding
	still := make(map[types.NamespacedName]outcast)
	var ingresses []*networkingv1.Ingress
	for _, ingress := range cluster.Ingresses {
		name := snapshot.NameOf(ingress)
		out, ok := o.byName[name]
		if !ok || !sameWishes(out.refused, ingress) {
			ingresses = append(ingresses, ingress)
			continue
		}
		if out.instead != nil {
			ingresses = append(ingresses, out.instead)
		}
		still[name] = out
		findings = append(findings, out.finding())
	}
	o.byName = still
	cluster.Ingresses = ingresses
	return cluster, findings
}

// sameWishes says whether two versions of an ingress ask for the same: a new
// status is no new wish.
func sameWishes(a, b *networkingv1.Ingress) bool {
	return a == b || equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Annotations, b.Annotations)
}

func (o *outcasts) add(out outcast) {
	if o.byName == nil {
		o.byName = make(map[types.NamespacedName]outcast)
	}
	o.byName[snapshot.NameOf(out.refused)] = out
}

// took notes the ingresses of a configuration that nginx took.
func (o *outcasts) took(ingresses []*networkingv1.Ingress) {
	if slices.Equal(o.taken, ingresses) {
		return
	}
	o.taken = ingresses
	o.latest = make(map[types.NamespacedName]*networkingv1.Ingress, len(ingresses))
	for _, ingress := range ingresses {
		o.latest[snapshot.NameOf(ingress)] = ingress
	}
}

// changed are the ingresses that nginx has not taken as they are.
func (o *outcasts) changed(ingresses []*networkingv1.Ingress) []*networkingv1.Ingress {
	return slices.DeleteFunc(slices.Clone(ingresses), func(ingress *networkingv1.Ingress) bool {
		return o.latest[snapshot.NameOf(ingress)] == ingress
	})
}

// earlier is the version of an ingress that nginx took before this one, nil if
// there is none.
func (o *outcasts) earlier(ingress *networkingv1.Ingress) *networkingv1.Ingress {
	before := o.latest[snapshot.NameOf(ingress)]
	if before == nil || before == ingress || before.UID != ingress.UID {
		return nil
	}
	return before
}
