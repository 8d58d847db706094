package annotations

import (
	"reflect"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller/options"
)

// Ingresses without annotations have equal sets, whatever else differs, so they can share one.
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
		t.Error("it has an annotation")
	}
	got, problems, err := Parse(in, opts)
	if err != nil || len(problems) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, %v\nwant %+v", got, problems, err, want)
	}
	opts.AnnotationsPrefix = "example.com"
	if !Given(in, &opts) {
		t.Error("with its prefix, it has no annotation")
	}
}
