package model

import (
	"cmp"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
)

// parsed is the result of annotations.Parse for one ingress.
type parsed struct {
	*annotations.Set // that of builder.noAnnotations for all ingresses without annotations
	problems         []annotations.Problem
	err              error
	closed           bool   // see close
	unacceptable     string // why the ingress is left out; the other fields are empty then
}

// readAnnotations parses the annotations of all ingresses. If an annotation is rejected, the whole
// ingress is closed, not left out: otherwise a less protected ingress might answer its requests.
func (b *builder) readAnnotations() {
	var taken []*networkingv1.Ingress
	for _, ingress := range b.Ingresses {
		read := b.read(ingress)
		b.sets[ingress] = read
		if read.unacceptable != "" {
			b.find(ingress, "", "%s; it is left out", read.unacceptable)
			continue
		}
		if closure, closed := b.Closed[ingress]; closed && closure.Routes == nil {
			b.close(ingress, read, closure.Reason)
			taken = append(taken, ingress)
			continue
		}
		for _, problem := range read.problems {
			b.find(ingress, "metadata.annotations["+problem.Key+"]", "%s", problem.Reason)
		}
		if read.err != nil {
			b.find(ingress, "metadata.annotations", "%v; its requests get 503", read.err)
			if b.hasCanaryAnnotation(ingress) {
				continue // another ingress answers the requests
			}
			b.close(ingress, read, read.err.Error())
		}
		if reason := tooManyLines(ingress, read.Set); reason != "" {
			b.find(ingress, "metadata.annotations", "%s; its requests get 503", reason)
			if read.Denied == nil {
				denied := *read.Set
				denied.Denied = &reason
				read.Set = &denied
			}
		}
		taken = append(taken, ingress)
	}
	b.Ingresses = taken
}

// read returns the parsed annotations of an ingress.
func (b *builder) read(ingress *networkingv1.Ingress) *parsed {
	if read := b.shared.sets[ingress]; read != nil {
		return read
	}
	if reason := unacceptable(ingress); reason != "" {
		return &parsed{Set: new(annotations.Set), unacceptable: reason}
	}
	if !annotations.Given(ingress, &b.options) {
		return &parsed{Set: &b.noAnnotations}
	}
	read := &parsed{Set: new(annotations.Set)}
	read.problems, read.err = annotations.ParseTo(read.Set, ingress, &b.options)
	return read
}

// isCanary reports whether an ingress only adds pods to the locations of other ingresses.
func (b *builder) isCanary(ingress *networkingv1.Ingress) bool {
	return b.annotations(ingress).Canary.Enabled
}

// annotationKey returns the field of an annotation, for findings.
func (b *builder) annotationKey(name string) string {
	return "metadata.annotations[" + cmp.Or(b.options.AnnotationsPrefix, annotations.DefaultPrefix) + "/" + name + "]"
}

// annotations returns the annotations of an ingress, or the defaults if it is nil. The result is
// shared and must not be modified.
func (b *builder) annotations(ingress *networkingv1.Ingress) *annotations.Set {
	if ingress == nil {
		return &b.noAnnotations
	}
	return b.sets[ingress].Set
}
