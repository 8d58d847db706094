package controller

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

func version(name, host string) *networkingv1.Ingress {
	ingress := new(networkingv1.Ingress)
	ingress.Namespace, ingress.Name, ingress.UID = "demo", name, types.UID(name)
	ingress.Spec.Rules = []networkingv1.IngressRule{{Host: host}}
	return ingress
}

func served(o *outcasts, config *corev1.ConfigMap, ingresses ...*networkingv1.Ingress) (hosts, findings []string) {
	cluster, found := o.from(snapshot.Snapshot{Ingresses: ingresses}, config)
	for _, ingress := range cluster.Ingresses {
		hosts = append(hosts, ingress.Spec.Rules[0].Host)
	}
	for _, finding := range found {
		findings = append(findings, finding.String())
	}
	return hosts, findings
}

func TestOutcastsAreLeftOutUntilTheyChange(t *testing.T) {
	var o outcasts
	config := new(corev1.ConfigMap)
	good, first := version("good", "good"), version("bad", "first")
	o.from(snapshot.Snapshot{}, config)
	o.took([]*networkingv1.Ingress{good, first})
	bad, fresh := version("bad", "second"), version("fresh", "fresh")
	if got := o.changed([]*networkingv1.Ingress{good, bad, fresh}); !slices.Equal(got, []*networkingv1.Ingress{bad, fresh}) {
		t.Errorf("changed: %v", got)
	}
	for _, ingress := range []*networkingv1.Ingress{bad, fresh} {
		o.add(outcast{refused: ingress, instead: o.earlier(ingress), reason: "[emerg] x"})
	}
	want := func(config *corev1.ConfigMap, hosts, findings string, ingresses ...*networkingv1.Ingress) {
		t.Helper()
		got, found := served(&o, config, ingresses...)
		if strings.Join(got, " ") != hosts || strings.Join(found, "; ") != findings {
			t.Errorf("served %q with findings %q, want %q with %q", got, found, hosts, findings)
		}
	}
	const ofBad = "Ingress demo/bad: nginx refuses it ([emerg] x); its earlier version is served until it changes"
	const ofFresh = "Ingress demo/fresh: nginx refuses it ([emerg] x); it is left out until it changes"
	want(config, "good first", ofBad+"; "+ofFresh, good, bad, fresh)

	// A new status is no change.
	written := fresh.DeepCopy()
	written.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
	want(config, "good first", ofBad+"; "+ofFresh, good, bad, written)
	want(config, "good first mended", ofBad, good, bad, version("fresh", "mended"))
	want(config, "good", "", good)             // deleted
	want(config, "good second", "", good, bad) // and made again
	o.add(outcast{refused: bad, reason: "[emerg] x"})
	want(new(corev1.ConfigMap), "good second", "", good, bad) // other rules for all
}

func TestAnotherIngressOfThatNameIsNoEarlierVersion(t *testing.T) {
	var o outcasts
	first, again := version("web", "first"), version("web", "second")
	again.UID = "another"
	o.took([]*networkingv1.Ingress{first})
	if got := o.earlier(again); got != nil {
		t.Errorf("earlier version %v", got)
	}
}
