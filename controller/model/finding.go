package model

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

// Finding reports that part of a user's object is wrong or was not applied as written.
type Finding struct {
	Object string // "Kind namespace/name"
	Key    string // the field of the object; empty for the whole object
	Reason string // what is wrong, and what happens instead
}

func (f Finding) String() string {
	if f.Key == "" {
		return fmt.Sprintf("%s: %s", f.Object, f.Reason)
	}
	return fmt.Sprintf("%s: %s: %s", f.Object, f.Key, f.Reason)
}

// find adds a finding about an ingress.
func (b *builder) find(ingress *networkingv1.Ingress, key, reason string, args ...any) {
	b.findings = append(b.findings, Finding{
		Object: "Ingress " + snapshot.NameOf(ingress).String(),
		Key:    key,
		Reason: fmt.Sprintf(reason, args...),
	})
}

// findService adds a finding about a service.
func (b *builder) findService(name types.NamespacedName, reason string) {
	b.findings = append(b.findings, Finding{Object: "Service " + name.String(), Reason: reason})
}

// findSecret adds a finding about a Secret.
func (b *builder) findSecret(name types.NamespacedName, reason string, args ...any) {
	b.findings = append(b.findings, Finding{Object: "Secret " + name.String(), Reason: fmt.Sprintf(reason, args...)})
}
