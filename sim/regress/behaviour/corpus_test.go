package behaviour_test

import (
	"context"
	"strings"
	"testing"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/behaviour"
)

const groups = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: a, namespace: shop}
spec: {rules: [{host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: b, namespace: shop}
spec: {rules: [{host: b.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: c, namespace: shop, annotations: {nginx.ingress.kubernetes.io/enable-cors: "true"}}
spec: {rules: [{host: c.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`

func corpus(t *testing.T) behaviour.Corpus {
	t.Helper()
	manifests, err := manifest.Parse("cluster.yaml", []byte(groups))
	if err != nil {
		t.Fatal(err)
	}
	return behaviour.Corpus{Groups: derive.Of(manifests, derive.Options{Class: "nginx"}).Cases}
}

// Groups with annotations that no other has are kept first, and the omitted requests are counted.
func TestBounded(t *testing.T) {
	all := corpus(t)
	if len(all.Groups) != 3 {
		t.Fatalf("%d groups", len(all.Groups))
	}
	cors := len(all.Groups[2].Steps)
	bounded, leftOut := all.Bounded(cors)
	if len(bounded.Groups) != 1 || bounded.Groups[0].Name != "shop-c" || leftOut != all.Requests()-cors {
		t.Errorf("%d groups, %d of %d requests left out", len(bounded.Groups), leftOut, all.Requests())
	}
	if bounded, leftOut = all.Bounded(all.Requests()); len(bounded.Groups) != 3 || leftOut != 0 {
		t.Errorf("%d groups, %d left out", len(bounded.Groups), leftOut)
	}
}

// The head must answer as the base does; a difference that does not recur does not count.
func TestCorpusAnswers(t *testing.T) {
	runs := 0
	ask := func(_ context.Context, q behaviour.Question) (casereport.Document, error) {
		runs++
		var results []behave.Result
		for _, c := range q.Cases {
			r := behave.Result{Case: c.Name, Outcome: behave.Passed}
			host := strings.TrimPrefix(c.Name, "corpus/shop-")
			switch {
			case q.Recorded != nil && host == "c":
				r.Outcome, r.Reason = behave.Void, "the controller ended"
			case q.Recorded != nil:
				records := make([]behave.Record, len(c.Steps))
				for n := range records {
					records[n].Exchanges = []behave.Exchange{{Status: 200}}
				}
				q.Recorded(c, records)
			case host == "a", host == "b" && runs <= 2:
				r.Outcome, r.Failures = behave.Failed, []behave.Failure{{Line: 9, Step: "GET /", Field: "status", Want: "200", Got: "404"}}
			}
			results = append(results, r)
		}
		return casereport.Of(casereport.Run{}, q.Cases, results), nil
	}
	all := corpus(t)
	b, err := all.Compare(t.Context(), ask, func(string, int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Answers) != 1 || b.Answers[0].Case != "corpus/shop-a" || b.Answers[0].Values[0] != (regress.Value{What: "status", Base: "200", Head: "404"}) {
		t.Errorf("answers %+v, want the one of a", b.Answers)
	}
	if runs != 4 || b.Unstable != 1 || b.CorpusRequests != all.Requests() || len(b.NotCompared) != 1 || !strings.Contains(b.NotCompared[0], "the controller ended") {
		t.Errorf("%+v in %d runs", b, runs)
	}
}

// A group that cannot be compared the second time does not refute the difference of the first time.
func TestCorpusDifferenceIsNotRefutedByVoid(t *testing.T) {
	heads := 0
	ask := func(_ context.Context, q behaviour.Question) (casereport.Document, error) {
		if q.Side == regress.SideHead {
			heads++
		}
		var results []behave.Result
		for _, c := range q.Cases {
			r := behave.Result{Case: c.Name, Outcome: behave.Passed}
			switch {
			case q.Recorded != nil:
				records := make([]behave.Record, len(c.Steps))
				for n := range records {
					records[n].Exchanges = []behave.Exchange{{Status: 200}}
				}
				q.Recorded(c, records)
			case heads == 1:
				r.Outcome, r.Failures = behave.Failed, []behave.Failure{{Line: 9, Step: "GET /", Field: "status", Want: "200", Got: "404"}}
			default:
				r.Outcome, r.Reason = behave.Void, "the controller ended"
			}
			results = append(results, r)
		}
		return casereport.Of(casereport.Run{}, q.Cases, results), nil
	}
	b, err := corpus(t).Compare(t.Context(), ask, func(string, int, int) {})
	if err != nil || len(b.Answers) == 0 || b.Unstable != 0 {
		t.Errorf("%+v, %v", b, err)
	}
}
