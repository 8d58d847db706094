package admission

import (
	"errors"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// shop is the cluster before the review.
const shop = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: old}
spec:
  rules:
  - {host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: canary, annotations: {nginx.ingress.kubernetes.io/canary: "true"}}
spec:
  rules:
  - {host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}
`

const uid = "7d2b6f6e-0000-4000-8000-000000000001"

// ingress decodes the fields that a test sets; the name and UID have defaults.
func ingress(t *testing.T, text string) *networkingv1.Ingress {
	t.Helper()
	made := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "new", UID: uid}}
	if err := yaml.UnmarshalStrict([]byte(text), made); err != nil {
		t.Fatal(err)
	}
	return made
}

// paths returns a spec with one path.
func paths(host, path, pathType string) string {
	return `spec: {rules: [{host: "` + host + `", http: {paths: [{path: '` + path + `', pathType: ` + pathType + `, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`
}

func annotated(pairs string) string { return `metadata: {annotations: {` + pairs + `}}` + "\n" }

const ours = "nginx.ingress.kubernetes.io/"

func reviewer(t *testing.T, config map[string]string) *Reviewer {
	t.Helper()
	manifests, err := snapshot.FromYAML(snapshot.File{Name: "shop", Data: []byte(shop)})
	if err != nil {
		t.Fatal(err)
	}
	opts := options.Options{DynamicConfiguration: true, Ports: options.DefaultPorts}
	opts.Config, _ = options.Parse(config, options.Defaults(1, false))
	return &Reviewer{
		Cluster: func() snapshot.Snapshot { return snapshot.Take(manifests) },
		Input:   func() compile.Input { return compile.Input{Input: render.Input{Options: opts, FileLimit: 4096}} },
		Inspect: func(*networkingv1.Ingress) error { return nil },
		Serves:  func(*networkingv1.Ingress) bool { return true },
	}
}

func TestCheck(t *testing.T) {
	snippets := map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}
	for name, test := range map[string]struct {
		ingress string
		config  map[string]string
		change  func(*Reviewer)
		denial  string // empty: allowed
		warning string
	}{
		"new host":                    {ingress: paths("new.example", "/", "Prefix")},
		"new path":                    {ingress: paths("shop.example", "/new", "Prefix")},
		"host and path of another":    {ingress: paths("shop.example", "/", "Prefix"), denial: `host "shop.example" and path "/" is already defined in ingress default/old`},
		"the same with an empty path": {ingress: paths("shop.example", "", "ImplementationSpecific"), denial: "already defined"},
		"an update of itself":         {ingress: "metadata: {name: old}\n" + paths("shop.example", "/", "Prefix")},
		"not a UUID":                  {ingress: "metadata: {uid: x}\n" + paths("new.example", "/", "Prefix"), denial: `metadata.uid "x"`},
		"being deleted":               {ingress: "metadata: {uid: x, deletionTimestamp: 2026-01-01T00:00:00Z}\n"},
		"of another class":            {ingress: "metadata: {uid: x}\n", change: func(r *Reviewer) { r.Serves = func(*networkingv1.Ingress) bool { return false } }},
		"suspicious, though of another class": {ingress: "", change: func(r *Reviewer) {
			r.Serves = func(*networkingv1.Ingress) bool { return false }
			r.Inspect = func(*networkingv1.Ingress) error { return errors.New("suspicious") }
		}, denial: "suspicious"},
		"default backend forbidden":       {ingress: "spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n", change: func(r *Reviewer) { r.DisableCatchAll = true }, denial: "--disable-catch-all"},
		"default backend":                 {ingress: "spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"},
		"regular expression as Prefix":    {ingress: paths("new.example", "/a(/|$)(.*)", "Prefix"), denial: `path "/a(/|$)(.*)" cannot have the pathType Prefix`, warning: "cannot have the pathType"},
		"the same, allowed by ConfigMap":  {ingress: paths("new.example", "/a.(b)", "Exact"), config: map[string]string{"strict-validate-path-type": "false"}, warning: "cannot have the pathType Exact"},
		"regular expression without type": {ingress: paths("new.example", "/a(/|$)(.*)", "ImplementationSpecific")},
		"snippet":                         {ingress: annotated(ours+"configuration-snippet: a") + paths("new.example", "/", "Prefix"), denial: "snippets are disabled"},
		"snippet of another prefix":       {ingress: annotated("nginx.example/server-snippet: a") + paths("new.example", "/", "Prefix"), denial: "annotation nginx.example/server-snippet: snippets are disabled"},
		"snippet without a prefix":        {ingress: annotated("my-snippet: a") + paths("new.example", "/", "Prefix"), denial: "snippets are disabled"},
		"other snippet, allowed":          {ingress: annotated("nginx.example/server-snippet: a") + paths("new.example", "/", "Prefix"), config: snippets},
		"snippet, allowed":                {ingress: annotated(ours+`configuration-snippet: "# a"`) + paths("new.example", "/", "Prefix"), config: snippets},
		"forbidden word":                  {ingress: annotated(ours+"rewrite-target: /secret") + paths("new.example", "/", "Prefix"), config: map[string]string{"annotation-value-word-blocklist": "secret"}, denial: "annotation-value-word-blocklist"},
		"too risky":                       {ingress: annotated(ours+"rewrite-target: /a") + paths("new.example", "/", "Prefix"), config: map[string]string{"annotations-risk-level": "Low"}, denial: "risk"},
		"prefix of another controller":    {ingress: annotated(ours+"rewrite-target: /a") + paths("new.example", "/", "Prefix"), change: withPrefix("mine.example"), denial: "begin with mine.example"},
		"its own prefix":                  {ingress: annotated("mine.example/rewrite-target: /a") + paths("new.example", "/", "Prefix"), change: withPrefix("mine.example")},
		"bad value that is ignored":       {ingress: annotated(ours+"proxy-connect-timeout: soon") + paths("new.example", "/", "Prefix"), warning: "proxy-connect-timeout"},
		"obsolete annotation":             {ingress: annotated(ours+"influxdb-host: a") + paths("new.example", "/", "Prefix"), warning: "no longer has an effect"},
		"second canary":                   {ingress: annotated(ours+`canary: "true"`) + paths("shop.example", "/", "Prefix"), denial: "already defined in ingress default/canary"},
		"main ingress with canary: false": {ingress: annotated(ours+`canary: "false"`) + paths("shop.example", "/", "Prefix"), warning: "already taken by default/old"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reviewer(t, test.config)
			if test.change != nil {
				test.change(r)
			}
			for _, r.OnlyNew = range []bool{false, true} {
				v := r.Review(ingress(t, test.ingress))
				switch {
				case v.Denial == nil && test.denial != "":
					t.Errorf("allowed, want %q", test.denial)
				case v.Denial != nil && (test.denial == "" || !strings.Contains(v.Denial.Error(), test.denial)):
					t.Errorf("denied: %v, want %q", v.Denial, test.denial)
				}
				if got := strings.Join(v.Warnings, "\n"); !strings.Contains(got, test.warning) || test.warning == "" && test.denial == "" && got != "" {
					t.Errorf("warnings %q, want %q", got, test.warning)
				}
			}
		})
	}
}

func withPrefix(prefix string) func(*Reviewer) {
	return func(r *Reviewer) {
		in := r.Input()
		in.Options.AnnotationsPrefix = prefix
		r.Input = func() compile.Input { return in }
	}
}

// An ingress of another controller must not leave a series behind, because nothing removes it.
func TestIngressesThatNeedNoCheckAreIgnored(t *testing.T) {
	r := reviewer(t, nil)
	for name, ignored := range map[string]*networkingv1.Ingress{
		"a deletion":     nil,
		"being deleted":  ingress(t, "metadata: {deletionTimestamp: 2026-01-01T00:00:00Z}\n"),
		"of other class": ingress(t, paths("new.example", "/", "Prefix")),
	} {
		r.Serves = func(*networkingv1.Ingress) bool { return false }
		if v := r.Review(ignored); v.Denial != nil || !v.Ignored {
			t.Errorf("%s: %+v", name, v)
		}
	}
	r.Serves = func(*networkingv1.Ingress) bool { return true }
	if v := r.Review(ingress(t, paths("new.example", "/", "Prefix"))); v.Ignored {
		t.Error("an ingress of this controller is ignored")
	}
}

// The cost of a check covers all ingresses of its hosts, or the new ingress alone if only that is
// rendered.
func TestCost(t *testing.T) {
	r := reviewer(t, nil)
	whole := r.Review(ingress(t, paths("shop.example", "/new", "Prefix"))).Cost
	if whole.Tested != 3 || whole.Rendered != 3 || whole.Size == 0 || whole.Test <= 0 || whole.Render <= 0 {
		t.Errorf("cost with all neighbours: %+v", whole)
	}
	r.OnlyNew = true
	alone := r.Review(ingress(t, paths("shop.example", "/new", "Prefix"))).Cost
	if alone.Tested != 3 || alone.Rendered != 1 || alone.Size == 0 {
		t.Errorf("cost with OnlyNew: %+v, with all neighbours: %+v", alone, whole)
	}
}

// An ingress is denied if the template fails with it.
func TestFailingTemplate(t *testing.T) {
	r := reviewer(t, nil)
	template, err := render.Parse("my.tmpl", []byte(`events {}{{ range .Servers }}{{ if eq .Hostname "new.example" }}{{ .NoSuchField }}{{ end }}{{ end }}`))
	if err != nil {
		t.Fatal(err)
	}
	in := r.Input()
	in.Template = template
	r.Input = func() compile.Input { return in }
	if v := r.Review(ingress(t, paths("new.example", "/", "Prefix"))); v.Denial == nil || !strings.Contains(v.Denial.Error(), "my.tmpl:1") {
		t.Errorf("denial: %v", v.Denial)
	}
	if v := r.Review(ingress(t, paths("other.example", "/", "Prefix"))); v.Denial != nil {
		t.Errorf("denial: %v", v.Denial)
	}
}

func TestCheckDoesNotChangeTheCluster(t *testing.T) {
	r := reviewer(t, nil)
	before := r.Cluster()
	r.Cluster = func() snapshot.Snapshot { return before }
	r.Review(ingress(t, "metadata: {name: old}\n"+paths("shop.example", "/other", "Prefix")))
	if len(before.Ingresses) != 2 || before.Ingresses[0].Spec.Rules[0].HTTP.Paths[0].Path != "/" || before.Ingresses[1].Spec.Rules[0].HTTP.Paths[0].Path != "/" {
		t.Errorf("the review changed the cluster to %v", before.Ingresses)
	}
}
