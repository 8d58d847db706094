package regress_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/conf"
)

// side renders a server for each ingress, with a location that has some lines for some annotations.
type side struct {
	lines    map[string]string // by annotation; "" for each ingress
	template string
	broken   string // the annotation with which rendering fails
	refused  string // the line that nginx -t refuses
	untested error

	mu    sync.Mutex
	tests int
}

func (s *side) Template() map[string]string { return map[string]string{"nginx.tmpl": s.template} }

func (s *side) Render(c regress.Cluster) ([]byte, error) {
	text, _, err := s.Trace(c)
	return text, err
}

// Trace says that the n-th line of a location comes from the n-th line of the template.
func (s *side) Trace(c regress.Cluster) ([]byte, regress.Origins, error) {
	source, err := c.Source()
	if err != nil {
		return nil, nil, err
	}
	var lines []string
	origins := map[int][][]regress.Site{}
	add := func(at int, text string) {
		lines = append(lines, text)
		origins[len(lines)] = [][]regress.Site{{{File: "nginx.tmpl", Line: at}}}
	}
	for _, ingress := range source.Ingresses() {
		if len(ingress.Spec.Rules) == 0 {
			continue
		}
		add(1, fmt.Sprintf("server {\n\tserver_name %s;\n\tlocation / {\n\t\tset $namespace %s;\n\t\tset $ingress_name %s;", ingress.Spec.Rules[0].Host, ingress.Namespace, ingress.Name))
		lines = strings.Split(strings.Join(lines, "\n"), "\n")
		for i, written := range strings.Split(s.template, "\n") {
			annotation, _, _ := strings.Cut(written, ":")
			_, has := ingress.Annotations["x/"+annotation]
			if !has && annotation != "all" {
				continue
			}
			if annotation == s.broken {
				return nil, nil, fmt.Errorf("nginx.tmpl:%d: cannot render", i+1)
			}
			add(i+1, "\t\t"+s.lines[annotation])
		}
		lines = append(lines, "\t}", "}")
	}
	return []byte(strings.Join(lines, "\n") + "\n"), func(line int) [][]regress.Site { return origins[line] }, nil
}

func (s *side) Test(_ context.Context, c regress.Cluster) (*regress.Refusal, error) {
	s.mu.Lock()
	s.tests++
	s.mu.Unlock()
	if s.untested != nil {
		return nil, s.untested
	}
	text, err := s.Render(c)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if s.refused != "" && strings.Contains(line, s.refused) {
			return &regress.Refusal{Reason: fmt.Sprintf("[emerg] bad in nginx.conf:%d", i+1), Line: i + 1}, nil
		}
	}
	return nil, nil
}

func newSide() *side {
	return &side{template: "all: a\nred: b\nblue: c", lines: map[string]string{"all": "access_log off;", "red": "proxy_buffering off;", "blue": "deny all;"}}
}

// ingress returns an ingress with annotations.
func ingress(name string, annotations ...string) string {
	text := fmt.Sprintf("---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: %s\n  namespace: shop\n  annotations:\n    x/other: \"1\"\n", name)
	for _, a := range annotations {
		text += fmt.Sprintf("    x/%s: \"1\"\n", a)
	}
	return text + fmt.Sprintf("spec:\n  rules:\n  - host: %[1]s.example\n    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %[1]s, port: {number: 80}}}}]}\n", name)
}

func clusters() []regress.Cluster {
	return []regress.Cluster{
		regress.NewCluster("plain", []byte(ingress("a")+ingress("b"))),
		regress.NewCluster("colours", []byte(ingress("a", "red")+ingress("b", "blue")+ingress("c", "red", "blue"))),
		regress.NewCluster("red", []byte(ingress("d", "red")+ingress("e"))),
	}
}

func run(t *testing.T, base, head *side, change ...func(*regress.Options)) *regress.Report {
	t.Helper()
	o := regress.Options{Base: base, Head: head, Clusters: clusters(), Minimise: true}
	for _, c := range change {
		c(&o)
	}
	r, err := regress.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEqualSides(t *testing.T) {
	base, head := newSide(), newSide()
	r := run(t, base, head, func(o *regress.Options) { o.SameProgram = true })
	if r.Outcome != regress.Same || r.Clusters != (regress.Clusters{All: 3, Identical: 3}) {
		t.Errorf("%+v", r)
	}
	if base.tests+head.tests != 3 {
		t.Errorf("%d tests of equal configurations by the same program, want one for each cluster", base.tests+head.tests)
	}
}

func TestOtherBytesThatMeanTheSame(t *testing.T) {
	head := newSide()
	head.lines["red"] = "proxy_buffering \"off\"; # switched off"
	r := run(t, newSide(), head)
	if r.Outcome != regress.Same || r.Clusters != (regress.Clusters{All: 3, Identical: 1, Same: 2}) {
		t.Errorf("%+v", r)
	}
}

func TestKindsOfDifferences(t *testing.T) {
	head := newSide()
	head.template = "all: a\nred: changed\nblue: c"
	head.lines["red"] = "proxy_buffering on;"
	r := run(t, newSide(), head)
	if r.Outcome != regress.Differs || len(r.Kinds) != 1 || r.Clusters != (regress.Clusters{All: 3, Identical: 1, Differing: 2}) {
		t.Fatalf("%+v", r)
	}
	k := r.Kinds[0]
	if k.Change != conf.Changed || k.Directive != "proxy_buffering on" || k.Was != "proxy_buffering off" || k.Place != "server/location" {
		t.Errorf("%+v", k)
	}
	if k.Blocks != 3 || k.Of != 7 || k.Clusters != 2 {
		t.Errorf("%d of %d blocks in %d clusters, want 3 of 7 in 2", k.Blocks, k.Of, k.Clusters)
	}
	if k.Cause == nil || k.Cause.Side != regress.SideHead || k.Cause.Line != 2 || k.Cause.Text != "red: changed" {
		t.Errorf("cause %+v", k.Cause)
	}
	if k.Example.Cluster != "red" || k.Example.Object != "Ingress shop/d" {
		t.Errorf("example %+v, want the smallest cluster", k.Example)
	}
	if !slices.Equal(k.Needs, []string{"annotation red"}) || k.Minimal == nil || !slices.Equal(k.Minimal.Objects, []string{"Ingress shop/d"}) {
		t.Errorf("needs %v, smallest cluster %+v", k.Needs, k.Minimal)
	}
	if strings.Contains(k.Minimal.Manifests, "x/other") {
		t.Errorf("an annotation is left that is not needed:\n%s", k.Minimal.Manifests)
	}
}

func TestFailuresOfOneSide(t *testing.T) {
	head := newSide()
	head.broken = "blue"
	r := run(t, newSide(), head)
	if r.Outcome != regress.Differs || len(r.Failures) != 1 || r.Clusters.Failed != 1 {
		t.Fatalf("%+v", r)
	}
	f := r.Failures[0]
	if f.Stage != regress.StageRender || f.Sides != regress.SideHead || f.Written == nil || f.Written.Line != 3 || !slices.Equal(f.Needs, []string{"annotation blue"}) {
		t.Errorf("%+v", f)
	}
}

func TestRefusalsOfBothSidesAreNoDifference(t *testing.T) {
	base, head := newSide(), newSide()
	base.refused, head.refused = "deny", "deny"
	r := run(t, base, head)
	if r.Outcome != regress.Same || len(r.Failures) != 1 || r.Failures[0].Sides != regress.SidesBoth || r.Failures[0].Minimal != nil {
		t.Errorf("%+v", r)
	}
}

func TestRefusalsOfBase(t *testing.T) {
	base := newSide()
	base.refused = "deny"
	r := run(t, base, newSide())
	if r.Outcome != regress.Differs || len(r.Failures) != 1 {
		t.Fatalf("%+v", r)
	}
	if f := r.Failures[0]; f.Sides != regress.SideBase || f.Object != "Ingress shop/b" || f.Text != "deny all;" || f.Clusters != 1 {
		t.Errorf("%+v", f)
	}
}

func TestTestsThatCannotBeMadeAreVoid(t *testing.T) {
	head := newSide()
	head.untested = errors.New("no port")
	r := run(t, newSide(), head)
	if r.Outcome != regress.Void || len(r.Untested) != 3 || !strings.Contains(r.Untested[0], "plain: no port") {
		t.Errorf("%+v", r)
	}
}

func TestPartsRunAlone(t *testing.T) {
	base, head := newSide(), newSide()
	head.lines["red"] = "proxy_buffering on;"
	r := run(t, base, head, func(o *regress.Options) { o.Parts = []regress.Part{regress.RenderedPart} })
	if base.tests+head.tests != 0 || len(r.Kinds) != 1 {
		t.Errorf("%d tests, %d kinds", base.tests+head.tests, len(r.Kinds))
	}
	r = run(t, base, head, func(o *regress.Options) { o.Parts = []regress.Part{regress.TestedPart} })
	if r.Outcome != regress.Same || len(r.Kinds) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestBadComparisons(t *testing.T) {
	if _, err := regress.Run(t.Context(), regress.Options{Base: newSide(), Head: newSide()}); err == nil || !strings.Contains(err.Error(), "no clusters") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := regress.Run(ctx, regress.Options{Base: newSide(), Head: newSide(), Clusters: clusters()}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
