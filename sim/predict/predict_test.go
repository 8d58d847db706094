package predict_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"windtunnel.dev/docs"
	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/question"
)

// parameters returns parameters with a small fixed term for each cost, and no other terms.
func parameters(t *testing.T) *costs.Parameters {
	t.Helper()
	p, err := costs.Parse("parameters.yaml", docs.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	p.Draws = costs.Draws{}
	for i := range p.Costs {
		for term := range p.Costs[i].Terms {
			p.Costs[i].Terms[term] = costs.Estimate{}
		}
		p.Costs[i].Spread = 0.1
		p.Costs[i].Terms["fixed"] = costs.Estimate{Value: 0.001}
	}
	p.Range = map[string]costs.Interval{
		"ingresses": {Low: 100, High: 2000}, "services": {Low: 100, High: 2000}, "endpoints": {Low: 100, High: 2000}, "workers": {Low: 2, High: 8},
		"processors": {Low: 2, High: 2}, "changes/s": {Low: 1, High: 10}, "requests/s": {Low: 1, High: 100}, "reloads/s": {Low: 0.3, High: 4}, "syncs/s": {Low: 0.3, High: 4},
	}
	p.Validation = &costs.Validation{Runs: 9, Figures: map[string]costs.Error{
		"staleness.p50": {Runs: 9, Median: 0.1, Worst: 0.2}, "lost": {Runs: 9, Median: 0.9, Worst: 3},
	}}
	return p
}

func ask(t *testing.T, p *costs.Parameters, settings ...string) *predict.Prediction {
	t.Helper()
	q := question.New()
	q.Runs = 10
	for _, text := range append([]string{"ingresses=200", "rolling-update=2/s", "for=1m", "http=10/s"}, settings...) {
		name, value, _ := strings.Cut(text, "=")
		var err error
		switch {
		case name == "where":
			q.Where = append(q.Where, value)
		case strings.Contains(value, ","):
			q.Sweep = map[string][]string{name: strings.Split(value, ",")}
		default:
			err = q.Set(name, value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	answer, err := predict.Ask(q, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func value(a predict.Answer, name string) predict.Value {
	for _, v := range a.Figures {
		if v.Name == name {
			return v
		}
	}
	return predict.Value{}
}

// An answer is a distribution, with the error on held-out runs.
func TestAnswer(t *testing.T) {
	a := ask(t, parameters(t)).Answers[0]
	p50, lost, busy := value(a, "staleness.p50"), value(a, "lost"), value(a, "busy")
	if !(p50.Low <= p50.Median && p50.Median <= p50.High && p50.Median > 0.5 && p50.Median < 5) {
		t.Errorf("staleness: %+v", p50)
	}
	switch {
	case p50.Error == nil || !p50.Predictable:
		t.Errorf("staleness has the error %v", p50.Error)
	case lost.Error == nil || lost.Predictable:
		t.Errorf("lost requests have the error %v", lost.Error)
	case busy.Error != nil || busy.Predictable:
		t.Errorf("no run measures how busy the controller is: %v", busy.Error)
	}
	if len(a.Beyond) != 0 || a.Meets != 1 || len(a.Staleness) != 101 || len(a.Course) == 0 {
		t.Errorf("beyond %v, meets %v, %d points, %d steps", a.Beyond, a.Meets, len(a.Staleness), len(a.Course))
	}
}

// A higher limit of syncs reduces staleness, and conditions show which values meet a bound.
func TestSweep(t *testing.T) {
	p := ask(t, parameters(t), "sync-rate-limit=0.3,1,4", "where=p99 staleness < 2500ms, syncs > 1")
	if len(p.Answers) != 3 {
		t.Fatalf("%d answers", len(p.Answers))
	}
	for i, a := range p.Answers[1:] {
		if before, now := value(p.Answers[i], "staleness.p99"), value(a, "staleness.p99"); now.Median >= before.Median {
			t.Errorf("%v: staleness %v, and %v with the limit before it", a.Values, now.Median, before.Median)
		}
	}
	if slow, fast := p.Answers[0], p.Answers[2]; slow.Meets != 0 || fast.Meets != 1 || fast.Conditions[0].Share != 1 || slow.Conditions[1].Share != 1 {
		t.Errorf("slow meets in %v %+v, fast in %v %+v", slow.Meets, slow.Conditions, fast.Meets, fast.Conditions)
	}
}

// Quantities outside of the fitted range are listed, the farthest first.
func TestBeyond(t *testing.T) {
	a := ask(t, parameters(t), "ingresses=100000", "services=1000", "endpoints=4000", "worker-processes=1", "http=1/h").Answers[0]
	got := map[string]float64{}
	for i, b := range a.Beyond {
		got[b.Quantity] = b.Times
		if i > 0 && b.Times > a.Beyond[i-1].Times {
			t.Errorf("%s is farther than %s", b.Quantity, a.Beyond[i-1].Quantity)
		}
	}
	if want := map[string]float64{"ingresses": 50, "endpoints": 2, "workers": 2, "requests/s": 3600}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A quantity that no run had is the farthest outside of the range.
func TestBeyondNothing(t *testing.T) {
	p := parameters(t)
	p.Range["requests/s"] = costs.Interval{}
	a := ask(t, p, "ingresses=100000").Answers[0]
	if len(a.Beyond) == 0 || a.Beyond[0] != (predict.Beyond{Quantity: "requests/s", Value: 10}) {
		t.Errorf("with requests, which no run had: %+v", a.Beyond)
	}
}

// An answer's load is the share of the processors that the requests of all lanes need, even above 1.
func TestLoad(t *testing.T) {
	for rates, want := range map[[2]string]float64{{"http=10/s", "post=10/s"}: 0.01, {"http=3000/s", "post=1000/s"}: 2} {
		if got := ask(t, parameters(t), rates[:]...).Answers[0].Load; math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: the requests need %v of two processors, want %v", rates, got, want)
		}
	}
}

func TestSameSeedSameAnswer(t *testing.T) {
	p := parameters(t)
	if a, b := ask(t, p), ask(t, p); !reflect.DeepEqual(a, b) {
		t.Error("two answers to a question differ")
	}
}

// A question that cannot be answered is an error, and nothing is simulated.
func TestBadQuestion(t *testing.T) {
	if _, err := predict.Ask(question.New(), parameters(t), nil); err == nil || !strings.Contains(err.Error(), "a question without changes") {
		t.Errorf("got %v", err)
	}
}
