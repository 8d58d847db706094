package quarantine

import (
	"maps"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// unaccepted is the replacement for a version of an ingress that the controller itself rejects,
// without nginx -t.
type unaccepted struct {
	good        *networkingv1.Ingress // the version that nginx accepted before; nil: none
	replacement Replacement
}

// isProven reports whether nginx has accepted an ingress of a cluster returned by accepted.
func (q *Quarantine) isProven(ingress *networkingv1.Ingress) bool {
	if q.replacements[ingress] {
		return slices.Contains(q.acceptedLast, ingress)
	}
	good := q.goodVersion(ingress)
	return good != nil && SameConfiguration(good, ingress, q.Prefix)
}

// instead returns the replacement of an ingress of a cluster returned by accepted. An ingress that
// is itself a replacement is closed or, if it is closed already, left out.
func (q *Quarantine) instead(ingress *networkingv1.Ingress, cluster snapshot.Snapshot) Replacement {
	if !q.replacements[ingress] {
		return ReplacementOf(ingress, q.goodVersion(ingress), q.Prefix)
	}
	if closure, closed := cluster.Closed[ingress]; closed && closure.Routes == nil {
		return leftOut
	}
	return ReplacementOf(ingress, nil, q.Prefix)
}

// accepted returns the cluster with a replacement for each version that is not accepted: the
// version that nginx accepted before, or 503. If nginx rejects the replacement as well, the
// quarantine holds it in place of an earlier version.
func (q *Quarantine) accepted(cluster snapshot.Snapshot) (snapshot.Snapshot, []model.Finding) {
	if len(cluster.Rejected) == 0 {
		q.unaccepted, q.replacements = nil, nil
		return cluster, nil
	}
	var findings []model.Finding
	still := make(map[*networkingv1.Ingress]unaccepted)
	ingresses := slices.Clone(cluster.Ingresses)
	closed := maps.Clone(cluster.Closed)
	for _, rejection := range cluster.Rejected {
		name := snapshot.NameOf(rejection.Ingress)
		i := slices.IndexFunc(ingresses, func(ingress *networkingv1.Ingress) bool { return snapshot.NameOf(ingress) == name })
		if i >= 0 {
			ingresses = slices.Delete(ingresses, i, i+1)
		}
		good := q.goodVersion(rejection.Ingress)
		one, known := q.unaccepted[rejection.Ingress]
		if !known || one.good != good {
			one = unaccepted{good, ReplacementOf(rejection.Ingress, good, q.Prefix)}
		}
		still[rejection.Ingress] = one
		ingresses, closed = one.replacement.addTo(ingresses, closed)
		says := one.replacement.Description
		if refused := q.cases[name]; refused != nil && refused.wanted == one.replacement.Ingress {
			says = refused.reasonToPeople()
		} else if len(q.wide) == 0 {
			delete(q.cases, name)
		}
		findings = append(findings, model.Finding{Object: "Ingress " + name.String(), Reason: rejection.Reason + "; " + says})
	}
	q.unaccepted, q.replacements = still, make(map[*networkingv1.Ingress]bool)
	for _, one := range still {
		q.replacements[one.replacement.Ingress] = true
	}
	cluster.Ingresses, cluster.Closed = snapshot.OldestFirst(ingresses), closed
	return cluster, findings
}
