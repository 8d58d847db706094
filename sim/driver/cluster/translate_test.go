package cluster

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
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

// translated checks the translations of objects. A wanted text that is empty means no object.
func translated(t *testing.T, n names, tests [][2]string) {
	t.Helper()
	for _, test := range tests {
		in := parse(t, test[0])
		before := in.DeepCopy()
		all, err := n.translate(in)
		if err != nil || len(all) > 1 {
			t.Fatal(test[0], all, err)
		}
		var got, want string
		for _, one := range all {
			got = string(must(yaml.Marshal(one.Object)))
		}
		if test[1] != "" {
			want = string(must(yaml.Marshal(parse(t, test[1]).Object)))
		}
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if !equality.Semantic.DeepEqual(in, before) {
			t.Error("the object itself was changed")
		}
	}
}

const made = "app.kubernetes.io/managed-by: windtunnel, windtunnel.dev/scenario-run: abc"

func TestNamesOfARun(t *testing.T) {
	n := newNames(home{run: "abc"}, []string{"demo"})
	translated(t, n, [][2]string{
		{"{apiVersion: v1, kind: Namespace, metadata: {name: demo}}", ""},
		{
			"{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: nginx}, spec: {controller: k8s.io/ingress-nginx}}",
			"{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: windtunnel-run-abc-nginx, labels: {" + made + "}}, spec: {controller: windtunnel.dev/windtunnel-run-abc-ingress-nginx}}",
		},
		{
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: demo, name: a, annotations: {x/auth-secret: demo/users, x/other: demographic}}, spec: {ingressClassName: nginx}}",
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: windtunnel-run-abc, name: a, labels: {" + made + "}, annotations: {x/auth-secret: windtunnel-run-abc/users, x/other: demographic}}, spec: {ingressClassName: windtunnel-run-abc-nginx}}",
		},
		{
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: demo, name: a, annotations: {kubernetes.io/ingress.class: nginx}}}",
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: windtunnel-run-abc, name: a, labels: {" + made + "}, annotations: {kubernetes.io/ingress.class: windtunnel-run-abc-nginx}}}",
		},
		{
			"{apiVersion: v1, kind: Service, metadata: {namespace: demo, name: a, labels: {own: label}}}",
			"{apiVersion: v1, kind: Service, metadata: {namespace: windtunnel-run-abc, name: a, labels: {own: label, " + made + "}}}",
		},
		{
			"{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ingress-nginx, name: ingress-nginx-controller}, data: {some-service: demo/a, worker-processes: '2'}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {namespace: windtunnel-run-abc, name: ingress-nginx-controller, labels: {" + made + "}}, data: {some-service: windtunnel-run-abc/a, worker-processes: '2'}}",
		},
	})
	for in, want := range map[string]string{
		"{apiVersion: v1, kind: Service, metadata: {namespace: other, name: a}}":             "the namespace other is not among those that the run has created (for demo, ingress-nginx)",
		"{apiVersion: v1, kind: Namespace, metadata: {name: other}}":                         "the namespace other is not among",
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}": "others use the cluster",
	} {
		if _, err := n.translate(parse(t, in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
	if got := n.references([]string{"demo/web:80", "else/web:80", "demo"}); !slices.Equal(got, []string{"windtunnel-run-abc/web:80", "else/web:80", "demo"}) {
		t.Errorf("got %v", got)
	}
	if all := n.further(); len(all) > 0 {
		t.Errorf("the run has the further namespaces %v", all)
	}
}

// Each of several namespaces is one of the run, with its labels.
func TestNamesOfSeveralNamespaces(t *testing.T) {
	n := newNames(home{run: "abc"}, []string{"demo", "shop", "ingress-nginx"})
	translated(t, n, [][2]string{
		{"{apiVersion: v1, kind: Namespace, metadata: {name: ingress-nginx}}", ""},
		{
			"{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: a, pod-security.kubernetes.io/enforce: privileged}}}",
			"{apiVersion: v1, kind: Namespace, metadata: {name: windtunnel-run-abc-shop, labels: {team: a, pod-security.kubernetes.io/enforce: restricted, " + made + "}}}",
		},
		{
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: shop, name: a, annotations: {x/auth-secret: demo/users, x/auth-tls-secret: shop/ca}}, spec: {ingressClassName: nginx}}",
			"{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: windtunnel-run-abc-shop, name: a, labels: {" + made + "}, annotations: {x/auth-secret: windtunnel-run-abc-demo/users, x/auth-tls-secret: windtunnel-run-abc-shop/ca}}, spec: {ingressClassName: windtunnel-run-abc-nginx}}",
		},
	})
	if got, want := n.further(), []string{"windtunnel-run-abc-demo", "windtunnel-run-abc-shop"}; !slices.Equal(got, want) {
		t.Errorf("the run has the further namespaces %v, want %v", got, want)
	}
}

// Long names are cut to what Kubernetes accepts, and stay different.
func TestLongNamesOfNamespaces(t *testing.T) {
	long := strings.Repeat("long-", 12)
	n := newNames(home{run: "abcdefgh"}, []string{long + "a", long + "b", "short"})
	all := n.further()
	if len(slices.Compact(all)) != 3 {
		t.Errorf("three namespaces have the names %q", all)
	}
	for _, one := range all {
		if problems := validation.IsDNS1123Label(one); len(problems) > 0 || !strings.HasPrefix(one, "windtunnel-run-abcdefgh-") {
			t.Errorf("%s: %q", one, problems)
		}
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}
