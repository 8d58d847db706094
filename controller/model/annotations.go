package model

import (
	"cmp"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/snapshot"
)

// readAnnotations reads those of all ingresses. An ingress whose annotations
// reject it is left out.
func (b *builder) readAnnotations() {
	b.noAnnotations, _, _ = annotations.Parse(new(networkingv1.Ingress), b.options) // nothing in it can be wrong
	var taken []*networkingv1.Ingress
	for _, ingress := range b.Ingresses {
		set, findings, err := annotations.Parse(ingress, b.options)
		for _, finding := range findings {
			b.find(ingress, "metadata.annotations["+finding.Key+"]", "%s", finding.Reason)
		}
		if err != nil {
			b.find(ingress, "metadata.annotations", "%v", err)
			continue
		}
		b.sets[snapshot.NameOf(ingress)] = set
		taken = append(taken, ingress)
	}
	b.Ingresses = taken
}

// isCanary tells whether an ingress only adds pods to the locations of others.
func (b *builder) isCanary(ingress *networkingv1.Ingress) bool {
	return b.annotations(ingress).Canary.Enabled
}

// annotationKey is where an annotation stands in an ingress, for findings.
func (b *builder) annotationKey(name string) string {
	return "metadata.annotations[" + cmp.Or(b.options.AnnotationsPrefix, annotations.DefaultPrefix) + "/" + name + "]"
}

// annotations are those of an ingress; of none, what holds without any.
func (b *builder) annotations(ingress *networkingv1.Ingress) annotations.Set {
	if ingress == nil {
		return b.noAnnotations
	}
	return b.sets[snapshot.NameOf(ingress)]
}
