package snapshot_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

func read(t *testing.T, text string) *snapshot.Manifests {
	t.Helper()
	manifests, err := snapshot.FromYAML(snapshot.File{Name: "cluster.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return manifests
}

const cluster = `# a comment before the first object
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: a, creationTimestamp: "2026-01-02T00:00:00Z"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: b, creationTimestamp: "2026-01-01T00:00:00Z"}
---
# Deployments are not for the controller.
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
--- # a List as kubectl get writes it
apiVersion: v1
kind: List
items:
- apiVersion: networking.k8s.io/v1
  kind: Ingress
  metadata: {name: c, namespace: x, creationTimestamp: "2026-01-02T00:00:00Z"}
- {apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: w-2, labels: {kubernetes.io/service-name: w}}, addressType: IPv4, endpoints: []}
- {apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: w-1, labels: {kubernetes.io/service-name: w}}, addressType: IPv4, endpoints: []}
- {apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: nobodys}, addressType: IPv4, endpoints: []}
- {apiVersion: v1, kind: Service, metadata: {name: w}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: config}, data: {keep-alive: "10"}}
- {apiVersion: v1, kind: Secret, metadata: {name: tls}, data: {tls.crt: YQ==}}
`

func TestTakeOrdersByAgeThenNameDescending(t *testing.T) {
	var names []string
	for _, ingress := range snapshot.Take(read(t, cluster)).Ingresses {
		names = append(names, snapshot.NameOf(ingress).String())
	}
	if got, want := strings.Join(names, " "), "default/b x/c default/a"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestTakeGroupsSlicesByService(t *testing.T) {
	taken := snapshot.Take(read(t, cluster))
	w := types.NamespacedName{Namespace: "default", Name: "w"}
	slices := taken.EndpointSlices.Of(w)
	if len(maps.Collect(taken.EndpointSlices.All())) != 1 || len(slices) != 2 || slices[0].Name != "w-1" {
		t.Errorf("slices %v, want w-1 and w-2 of %s alone", slices, w)
	}
	if taken.Services[w] == nil || len(taken.Secrets) != 1 || len(taken.ConfigMaps) != 1 {
		t.Errorf("services %v, %d secrets, %d config maps", taken.Services, len(taken.Secrets), len(taken.ConfigMaps))
	}
}

// Cluster objects that the controller does not read are left out, including those of unknown APIs.
func TestOtherKindsAreLeftOut(t *testing.T) {
	for _, kind := range []string{"{apiVersion: v1, kind: Namespace}", "{apiVersion: v1, kind: List}", "{apiVersion: apps/v1, kind: Deployment}", "{apiVersion: example.com/v1, kind: Ingress}", "# nothing"} {
		manifests, err := snapshot.FromYAML(snapshot.File{Name: "f.yaml", Data: []byte(kind)})
		if err != nil || !manifests.Empty() {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if read(t, cluster).Empty() {
		t.Error("a cluster with objects is empty")
	}
}

func TestOtherKindsAreCounted(t *testing.T) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\n---\n"
	got := read(t, deployment+"apiVersion: networking.istio.io/v1\nkind: Gateway\n---\n"+deployment).Unread()
	want := map[schema.GroupVersionKind]int{
		{Group: "apps", Version: "v1", Kind: "Deployment"}:             2,
		{Group: "networking.istio.io", Version: "v1", Kind: "Gateway"}: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds that are not read (-want +got):\n%s", diff)
	}
}

// Only a kind that resembles one that the controller reads is an error: other projects have kinds
// of the same name, and groups with similar names.
func TestMisspeltAPIVersions(t *testing.T) {
	for text, want := range map[string]string{
		"networking.k8.io/v1 Ingress":                     "Kubernetes has no Ingress of networking.k8.io/v1: write apiVersion: networking.k8s.io/v1 and kind: Ingress",
		"neworking.k8s.io/v1 Ingres":                      "Kubernetes has no Ingres of neworking.k8s.io/v1: write apiVersion: networking.k8s.io/v1 and kind: Ingress",
		"networking.k8s.io/v2 Ingress":                    "Kubernetes has no Ingress of networking.k8s.io/v2: write apiVersion: networking.k8s.io/v1 and kind: Ingress",
		"discovery.k8s.io/v1beta1 EndpointSlice":          "Kubernetes has no EndpointSlice of discovery.k8s.io/v1beta1: write apiVersion: discovery.k8s.io/v1 and kind: EndpointSlice",
		"core/v1 Service":                                 "Kubernetes has no Service of core/v1: write apiVersion: v1 and kind: Service",
		"apps/v1 ConfigMap":                               "Kubernetes has no ConfigMap of apps/v1: write apiVersion: v1 and kind: ConfigMap",
		"v2 Secret":                                       "Kubernetes has no Secret of v2: write apiVersion: v1 and kind: Secret",
		"networking.k8s.io/v1beta1 IngressClass":          "",
		"networking.istio.io/v1 ServiceEntry":             "",
		"networking.k8s.aws/v1alpha1 PolicyEndpoint":      "",
		"networking.internal.knative.dev/v1beta1 Ingress": "",
		"serving.knative.dev/v1 Service":                  "",
		"config.openshift.io/v1 Ingress":                  "",
	} {
		version, kind, _ := strings.Cut(text, " ")
		_, err := snapshot.FromYAML(snapshot.File{Name: "f.yaml", Data: []byte("apiVersion: " + version + "\nkind: " + kind + "\n")})
		got := ""
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "f.yaml:1: ")
		}
		if got != want {
			t.Errorf("%s: error %q, want %q", text, got, want)
		}
	}
}

func TestFromYAMLErrorsHaveFileAndLine(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no kind":       {"\n\nmetadata: {name: a}\n", "f.yaml:3: no kind: a manifest needs apiVersion and kind"},
		"no name":       {"apiVersion: v1\nkind: Service\n", "f.yaml:1: no metadata.name"},
		"unknown field": {"---\n# c\napiVersion: v1\nkind: Service\nmetadata: {name: a}\nspecs: {}\n", `f.yaml:3: unknown field "specs"`},
		"twice":         {"kind: Service\napiVersion: v1\nmetadata: {name: a}\n---\nkind: Service\napiVersion: v1\nmetadata: {name: a}\n", "f.yaml:5: default/a is defined twice"},
		"not YAML":      {"---\na: b\nc: d: e\n", "f.yaml:3: not YAML: mapping values are not allowed in this context"},
		"two fields":    {"--- {apiVersion: v1, kind: Service, metadata: {name: a}, specs: {}, spec: {typ: x}}\n", "f.yaml:1: unknown field \"spec.typ\"; unknown field \"specs\""},
		"wrong case":    {"apiVersion: v1\nkind: Service\nmetadata: {Name: a}\n", `f.yaml:1: unknown field "metadata.Name"`},
		"a number":      {"apiVersion: v1\nkind: Service\nmetadata: {name: a, annotations: {b: 1}}\n", "f.yaml:1: cannot unmarshal number into Go struct field ObjectMeta.metadata.annotations of type string"},
		"old API":       {"apiVersion: extensions/v1beta1\nkind: Ingress\n", "f.yaml:1: Kubernetes has no extensions/v1beta1 since 1.22: write networking.k8s.io/v1"},
		"in a list":     {"apiVersion: v1\nkind: List\nitems:\n- {kind: Service, apiVersion: v1}\n", "f.yaml:1: item 1: no metadata.name"},
		"a list":        {"- a\n", "f.yaml:1: not a Kubernetes object, which is a mapping with apiVersion and kind"},
		"no items":      {"kind: List\nitems: {a: b}\n", "f.yaml:1: items is not a list"},
		"no mapping":    {"kind: List\nitems: [1]\n", "f.yaml:1: item 1: not a Kubernetes object, which is a mapping with apiVersion and kind"},
		"unknown kind":  {"kind: Ingres\napiVersion: networking.k8s.io/v1\n", "f.yaml:1: networking.k8s.io/v1 has no kind Ingres; did you mean Ingress?"},
		"another group": {"kind: Ingress\napiVersion: v1\n", "f.yaml:1: v1 has no kind Ingress"},
		"a scenario":    {"kind: Scenario\napiVersion: windtunnel.dev/v1\n", "f.yaml:1: a Scenario of windtunnel is not an object of a cluster: name a file with manifests"},
		"two":           {"kind: Service\napiVersion: v1\n---\na: b\n", "f.yaml:1: no metadata.name\nf.yaml:4: no kind: a manifest needs apiVersion and kind"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := snapshot.FromYAML(snapshot.File{Name: "f.yaml", Data: []byte(test.text)})
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v\nwant  %s", err, test.want)
			}
		})
	}
}

func FuzzFromYAML(f *testing.F) {
	f.Add(cluster)
	f.Add("---\n---\n--- x\nkind: List\nitems: [1]\n")
	f.Fuzz(func(t *testing.T, text string) {
		manifests, err := snapshot.FromYAML(snapshot.File{Name: "f", Data: []byte(text)})
		if err == nil {
			snapshot.Take(manifests)
		} else if !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("error does not say where: %v", err)
		}
	})
}
