package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/behave"
)

// parse returns a case with these lines of its spec and ingresses for these hosts.
func parse(t *testing.T, name, spec string, hosts ...string) *behave.Case {
	t.Helper()
	text := "apiVersion: windtunnel.dev/v1\nkind: Case\nspec:\n  summary: a case\n" + spec +
		"  steps:\n  - request: GET http://any.example/\n    expect: {status: 200}\n"
	for i, host := range hosts {
		text += fmt.Sprintf("---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i%d}\nspec: {rules: [{host: %q}]}\n", i, host)
	}
	c, err := behave.Parse("cases/"+name+".yaml", []byte(text), behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// layout describes groups as lists of batches of names.
func layout(groups []*group) string {
	var all []string
	for _, g := range groups {
		for _, b := range g.batches {
			var names []string
			for _, c := range b.cases {
				names = append(names, strings.TrimPrefix(c.Name, "cases/"))
			}
			all = append(all, strings.Join(names, "+"))
		}
		all = append(all, "|")
	}
	return strings.Join(all, " ")
}

func TestGrouped(t *testing.T) {
	const flags, config = "  flags: {v: \"2\"}\n", "  config: {use-gzip: \"true\"}\n"
	for name, test := range map[string]struct {
		cases []*behave.Case
		want  string
	}{
		"nothing in common": {
			[]*behave.Case{parse(t, "a", "", "a.example"), parse(t, "b", "", "b.example")}, "a+b |",
		},
		"flags and ConfigMap": {
			[]*behave.Case{
				parse(t, "a", flags, "a.example"), parse(t, "b", config, "b.example"), parse(t, "c", "", "c.example"),
				parse(t, "d", config, "d.example"), parse(t, "e", flags, "e.example"),
			}, "a+e | b+d c |",
		},
		"the same host": {
			[]*behave.Case{parse(t, "a", "", "a.example"), parse(t, "b", "", "A.example"), parse(t, "c", "", "c.example")}, "a+c b |",
		},
		"www and wildcards": {
			[]*behave.Case{
				parse(t, "a", "", "a.example"), parse(t, "b", "", "www.a.example"), parse(t, "c", "", "*.example"), parse(t, "d", "", "*.other"),
			}, "a+d b c |",
		},
		"no host": {
			[]*behave.Case{parse(t, "a", "", "a.example"), parse(t, "b", "", ""), parse(t, "c", "", "c.example")}, "a+c b |",
		},
	} {
		if got := layout(grouped(test.cases, ordinary)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// Cases with many changes are divided among several batches.
func TestBatchesAreShort(t *testing.T) {
	var cases []*behave.Case
	for i := range 10 {
		c := parse(t, fmt.Sprint("c", i), "", fmt.Sprintf("h%d.example", i))
		c.Steps = append(c.Steps, behave.Step{Apply: "x"}, behave.Step{Delete: "x"})
		cases = append(cases, c)
	}
	g := grouped(cases, ordinary)[0]
	for _, b := range g.batches {
		if n := len(b.cases); n < 2 || n > 3 {
			t.Errorf("a batch has %d cases with two changes each", n)
		}
	}
	cases[0].Steps = slices.Repeat(cases[0].Steps, 20)
	if got := len(grouped(cases[:1], ordinary)[0].batches); got != 1 {
		t.Errorf("a long case is in %d batches", got)
	}
}

func TestClaims(t *testing.T) {
	c := parse(t, "topic.1", "", "a.example")
	c.Manifests[0].Object.SetNamespace("elsewhere")
	c.Manifests[0].Object.SetAnnotations(map[string]string{"nginx.ingress.kubernetes.io/server-alias": "b.example, c.example"})
	want := claims{namespaces: []string{"cases-topic-1", "elsewhere"}, hosts: []string{"a.example", "b.example", "c.example"}}
	got := claimsOf(c)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(claims{})); diff != "" {
		t.Error("-want +got:\n" + diff)
	}
	c.Manifests[0].Object.SetAnnotations(map[string]string{"nginx.ingress.kubernetes.io/server-alias": `~^(.+)\.example$`})
	if !claimsOf(c).everything {
		t.Error("an alias that is a pattern may match any host")
	}
	c = parse(t, "a", "", "a.example")
	c.Steps = append(c.Steps, behave.Step{Config: map[string]string{}})
	if !claimsOf(c).everything {
		t.Error("a change of the ConfigMap affects all hosts")
	}
}

func TestQueueSharesLargeGroups(t *testing.T) {
	var cases []*behave.Case
	for i := range 6 { // each in a batch of its own
		cases = append(cases, parse(t, fmt.Sprint("large", i), "", "same.example"))
	}
	cases = append(cases, parse(t, "small", "  flags: {v: \"2\"}\n", "same.example"))
	q := newQueue(grouped(cases, ordinary))
	large, small := q.groups[0], q.groups[1]
	for i, want := range []*group{large, large, large, small, nil} {
		if got := q.claim(); got != want {
			t.Fatalf("claim %d is of a group with %d batches", i, len(got.batches))
		}
	}
	b, ok := q.next(large)
	if !ok || layout([]*group{{batches: []batch{b}}}) != "large0 |" {
		t.Fatal(b, ok)
	}
	if left := q.abandon(large); left != nil {
		t.Errorf("%d batches are abandoned though other installations run them", len(left))
	}
	q.release(large)
	q.release(large)
	if left := q.abandon(large); len(left) != 5 {
		t.Errorf("%d batches are abandoned, want 5", len(left))
	}
	if _, ok := q.next(large); ok {
		t.Error("an abandoned batch is handed out")
	}
	q.putBack(large, batch{cases: cases[:3]}.halves())
	if got := layout([]*group{large}); got != "large0 large1+large2 |" {
		t.Errorf("after a division: %s", got)
	}
}

// An installation that does not start beside others is not tried again while they run.
func TestQueueWaitsIfAGroupIsFull(t *testing.T) {
	var cases []*behave.Case
	for i := range 10 { // each in a batch of its own
		cases = append(cases, parse(t, fmt.Sprint("case", i), "", "same.example"))
	}
	q := newQueue(grouped(cases, ordinary))
	only := q.claim()
	if q.claim() != only || q.abandon(only) != nil {
		t.Fatal("the group gets no second installation")
	}
	q.release(only)
	if q.claim() != nil {
		t.Error("the group gets another installation beside the one that runs")
	}
	q.release(only)
	if q.claim() != only {
		t.Error("the group gets no installation after the other one has ended")
	}
}
