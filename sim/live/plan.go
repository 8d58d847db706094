package live

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/step"
)

// Spec describes a population and its churn.
type Spec struct {
	Population corpus.Shape // with the namespace of the churn
	Kinds      []string     // kinds of churn, as scenarios name them; all run at the same time
	Rate       float64      // changes per second, of each kind
	For        time.Duration
	Drain      time.Duration // how long a removed real pod keeps serving
}

// Kinds lists the kinds of churn that a Spec can have.
var Kinds = slices.DeleteFunc(slices.Clone(scenario.Churns), func(kind string) bool { return kind == scenario.Recorded })

// Plan has the population and all changes of a Spec.
type Plan struct {
	Spec       Spec
	Population corpus.Population
	Stream     churn.Stream
	Issues     []churn.Issue // of certificates, which streams do not have
	tasks      []step.Task
}

// check returns an error for the first invalid value. It names the flag and the requirement.
func (s Spec) check() error {
	p := s.Population
	for _, rule := range []struct {
		flag string
		is   any
		ok   bool
		must string
	}{
		{"kind", s.Kinds, len(s.Kinds) > 0, fmt.Sprint("name some of ", Kinds)},
		{"kind", s.Kinds, len(slices.Compact(slices.Sorted(slices.Values(s.Kinds)))) == len(s.Kinds), "name each kind once; raise --rate for more changes"},
		{"rate", s.Rate, s.Rate > 0 && !math.IsInf(s.Rate, 1), "be a number above 0"},
		{"for", s.For, s.For > 0, "be above 0s"},
		{"drain", s.Drain, s.Drain >= 0, "be 0s or more"},
		{"services", p.Services, p.Services >= 1, "be 1 or more"},
		{"pods", p.Pods, p.Pods >= 1, "be 1 or more"},
		{"ingresses", p.Ingresses, p.Ingresses >= 0, "be 0 or more"},
		{"ingresses", p.Ingresses, p.Ingresses > 0 || !slices.Contains(s.Kinds, scenario.CertificateRotation), "be 1 or more for a " + scenario.CertificateRotation},
		{"rate", s.Rate, s.Rate <= float64(scenario.MostRate), fmt.Sprintf("be %g at most", float64(scenario.MostRate))},
		{"rate", s.Rate, scenario.TooManyChanges(scenario.Rate(s.Rate), s.For) == "", fmt.Sprintf("give at most %d changes in --for %v", scenario.MostChanges, s.For)},
		{"services", p.Services, scenario.TooMany(p.Services, p.Pods, 0) == "", fmt.Sprintf("give at most %d pods with --pods %d", scenario.MostPods, p.Pods)},
		{"ingresses", p.Ingresses, p.Ingresses <= scenario.MostIngresses, fmt.Sprintf("be %d at most", scenario.MostIngresses)},
		{"for", s.For, math.Round(s.Rate*s.For.Seconds()) >= 1, fmt.Sprintf("be %gs or more for a change at --rate %g", math.Ceil(500/s.Rate)/1000, s.Rate)},
	} {
		if !rule.ok {
			return fmt.Errorf("--%s is %v: it must %s", rule.flag, rule.is, rule.must)
		}
	}
	return nil
}

// NewPlan returns the plan of a spec. The same spec always gives the same plan.
func NewPlan(s Spec) (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p := &Plan{Spec: s}
	s.Population.TLS = s.Population.TLS || slices.Contains(s.Kinds, scenario.CertificateRotation)
	p.Population = corpus.Generate(s.Population)
	options := churn.Options{Seed: s.Population.Seed, Rate: s.Rate, For: s.For}
	story := scenario.Scenario{File: "churn"}
	story.Timeline = append(story.Timeline, scenario.Step{Churn: scenario.Recorded, For: s.For, Drain: &s.Drain})
	var streams []churn.Stream
	for _, kind := range s.Kinds {
		if kind == scenario.CertificateRotation {
			p.Issues = churn.CertificateRotation(p.Population, options)
			story.Timeline = append(story.Timeline, scenario.Step{Churn: kind, Rate: scenario.Rate(s.Rate), For: s.For})
			continue
		}
		stream, ok := step.Stream(kind, p.Population, options)
		if !ok {
			return nil, fmt.Errorf("there is no kind of churn %q; the kinds are %q", kind, Kinds)
		}
		streams = append(streams, stream)
	}
	p.Stream = churn.Merge(streams...)
	p.Stream.Length = s.For
	var err error
	p.tasks, err = step.Tasks(&story, churn.Recording{Population: p.Population, Stream: p.Stream}, s.Population.Seed)
	return p, err
}

// recording returns the changes that were begun, for windtunnel replay. Its objects are in the
// namespace of all recordings and have the class that replay serves.
func (p *Plan) recording(counts changeCounts, length time.Duration) (churn.Recording, error) {
	s := p.Spec
	s.Population.Namespace, s.Population.Class = scenario.RecordedNamespace, ""
	same, err := NewPlan(s)
	if err != nil {
		return churn.Recording{}, err
	}
	r := churn.Recording{Population: same.Population, Stream: same.Stream}
	r.Changes = r.Changes[:counts.made]
	if counts.made > 0 {
		length = max(length, r.Changes[counts.made-1].At)
	}
	r.Length = min(length, r.Length)
	r.Left = map[string]int{}
	if counts.certificates > 0 {
		r.Left["certificates renewed"] = counts.certificates
	}
	if counts.refused > 0 {
		r.Left["refusals of changes, which are recorded as if the API had accepted them"] = counts.refused
	}
	return r, nil
}

// inventory returns the objects that the plan creates in its namespace.
func (p *Plan) inventory() inventory {
	i := inventory{}
	for _, s := range p.Population.Services {
		i.add("Service", s.Name)
	}
	for slice := range p.slices() {
		i.add("EndpointSlice", slice)
	}
	for _, ingress := range p.Population.Ingresses {
		i.add("Ingress", ingress.Name)
		if p.Population.TLS {
			i.add("Secret", ingress.SecretName())
		}
	}
	for _, change := range p.Stream.Changes {
		if change.Host != "" {
			i.add("Ingress", change.Host)
		}
	}
	return i
}

// slices returns the names of all EndpointSlices that the plan may create.
func (p *Plan) slices() map[string]bool {
	pods := map[string]int{} // by service, the most pods that it can gain
	for _, change := range p.Stream.Changes {
		pods[change.Service] += max(0, len(change.Add)-len(change.Remove))
	}
	names := map[string]bool{}
	for _, s := range p.Population.Services {
		for i := range (len(s.Pods)+pods[s.Key()])/corpus.SliceSize + 1 {
			names[corpus.SliceName(s, i)] = true
		}
	}
	return names
}

// lines yields a line for each write of the plan, in order.
func (p *Plan) lines(yield func(string) bool) {
	namespace := p.Population.Namespace
	for _, typed := range p.Population.Objects(func(string) netip.Addr { return nowhere.Addr() }) {
		object, err := cluster.Object(typed)
		if err != nil || object.GetNamespace() == "" {
			continue // see populate
		}
		if !yield("create " + cluster.Name(object)) {
			return
		}
	}
	all := map[time.Duration][]string{}
	for _, c := range p.Stream.Changes {
		all[c.At] = append(all[c.At], describeWrite(c, namespace))
	}
	for _, issue := range p.Issues {
		all[issue.At] = append(all[issue.At], fmt.Sprintf("update Secret %s/%s: certificate %d of %s", namespace, issue.Ingress.SecretName(), issue.Number, issue.Ingress.Host))
	}
	for _, at := range slices.Sorted(maps.Keys(all)) {
		for _, line := range all[at] {
			if !yield(fmt.Sprintf("%v %s", at.Round(time.Millisecond), line)) {
				return
			}
		}
	}
}

func describeWrite(c churn.Change, namespace string) string {
	switch {
	case c.Host != "":
		return fmt.Sprintf("create Ingress %s/%s to %s", namespace, c.Host, c.Service)
	case c.Touch != "":
		return fmt.Sprintf("touch the %s of %s", c.Touch, c.Service)
	}
	return strings.Join(slices.Concat([]string{"update EndpointSlices of " + c.Service + ":"}, signed("+", c.Add), signed("-", c.Remove)), " ")
}

func signed(sign string, pods []string) (all []string) {
	for _, pod := range pods {
		all = append(all, sign+pod)
	}
	return all
}
