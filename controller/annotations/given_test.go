package annotations

import (
	"reflect"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller/options"
)

// Ingresses without annotations have equal sets, regardless of other differences, so they can share
// one.
func TestSetsOfIngressesWithoutAnnotationsAreEqual(t *testing.T) {
	opts := options.Options{Config: options.Defaults(1, false)}
	opts.Config.LimitRate, opts.Config.GlobalAuthURL = 5, "http://auth.example/"
	want, _, err := Parse(new(networkingv1.Ingress), opts)
	if err != nil {
		t.Fatal(err)
	}
	in := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{
		Namespace: "demo", Name: "web", UID: "1234", Annotations: map[string]string{"example.com/limit-rps": "5"},
	}}
	if Given(in, &opts) {
		t.Error("an annotation with another prefix counts")
	}
	got, problems, err := Parse(in, opts)
	if err != nil || len(problems) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, %v\nwant %+v", got, problems, err, want)
	}
	opts.AnnotationsPrefix = "example.com"
	if !Given(in, &opts) {
		t.Error("an annotation with the prefix does not count")
	}
}

// The same annotations give the same fingerprint; annotations without the prefix do not count.
func TestFingerprint(t *testing.T) {
	of := func(all map[string]string) uint64 {
		return Fingerprint(&networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Annotations: all}}, new(options.Options))
	}
	const a, b = DefaultPrefix + "/a", DefaultPrefix + "/b"
	one := of(map[string]string{a: "1", b: "2"})
	if again := of(map[string]string{b: "2", a: "1", "example.com/a": "3"}); again != one {
		t.Errorf("the same annotations have fingerprint %x, want %x", again, one)
	}
	for _, other := range []map[string]string{nil, {a: "1"}, {a: "2", b: "1"}, {a: "1", b: "3"}, {a + "1": "", b: "2"}} {
		if of(other) == one {
			t.Errorf("%v has the same fingerprint as other annotations", other)
		}
	}
	if none := of(map[string]string{"example.com/a": "1"}); none != 0 {
		t.Errorf("fingerprint %x without annotations, want 0", none)
	}
}
