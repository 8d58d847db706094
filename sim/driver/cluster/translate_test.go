package cluster

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestNamesOfARun(t *testing.T) {
	n := &names{run: "windtunnel-run-abc", made: map[string]string{"made": "here"}}
	if all, err := n.translate(parse(t, "{apiVersion: v1, kind: Namespace, metadata: {name: demo}}")); err != nil || len(all) != 0 {
		t.Errorf("the namespace: %v, %v", all, err)
	}
	for _, test := range []struct{ in, want string }{
		{
			"{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}",
			"{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: windtunnel-run-abc-nginx, labels: {made: here}}, spec: {controller: windtunnel.dev/windtunnel-run-abc-ingress-nginx}}",
		},
		{
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: demo, name: a, annotations: {x/auth-secret: demo/users, x/other: demographic}}, spec: {ingressClassName: nginx}}",
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: windtunnel-run-abc, name: a, labels: {made: here}, annotations: {x/auth-secret: windtunnel-run-abc/users, x/other: demographic}}, spec: {ingressClassName: windtunnel-run-abc-nginx}}",
		},
		{
			"{apiVersion: v1, kind: Service, metadata: {namespace: demo, name: a, labels: {own: label}}}",
			"{apiVersion: v1, kind: Service, metadata: {namespace: windtunnel-run-abc, name: a, labels: {own: label, made: here}}}",
		},
	} {
		in := parse(t, test.in)
		before := in.DeepCopy()
		all, err := n.translate(in)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		got, _ := yaml.Marshal(all[0].Object)
		want, _ := yaml.Marshal(parse(t, test.want).Object)
		if string(got) != string(want) {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if a, _ := yaml.Marshal(in.Object); string(a) != string(must(yaml.Marshal(before.Object))) {
			t.Error("the object itself was changed")
		}
	}
	for in, want := range map[string]string{
		"{apiVersion: v1, kind: Service, metadata: {namespace: other, name: a}}":             "namespaces demo and other",
		"{apiVersion: v1, kind: Namespace, metadata: {name: other}}":                         "namespaces demo and other",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}": "others use the cluster",
	} {
		if _, err := n.translate(parse(t, in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	if got := n.references([]string{"demo/web:80", "else/web:80"}); got[0] != "windtunnel-run-abc/web:80" || got[1] != "else/web:80" {
		t.Errorf("got %v", got)
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}
