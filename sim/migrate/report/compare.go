package report

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/behave/diff"
)

// annotationPrefix is the prefix of annotations among causes, and among the settings of steps.
const annotationPrefix = "annotation/"

// Asked is a group of ingresses, with the answers of the controller to leave.
type Asked struct {
	Case      *behave.Case // with these answers as expectations; nil if they could not be recorded
	Answers   []string     // to each step, as Answers describes them
	Ingresses []derive.Ingress
}

// Answered are the answers of a controller to move to.
type Answered struct {
	Name      string
	Diff      diff.Document
	Answers   map[string][]string // to each step, by the name of the case
	Unreached []string
}

// Compare sets the fields that follow from the answers: the targets, the annotations, and the
// numbers.
func (d *Document) Compare(asked []Asked, answered []Answered) {
	d.count(asked)
	byName := map[string]Asked{}
	for _, a := range asked {
		if a.Case != nil {
			byName[a.Case.Name] = a
		}
	}
	for _, a := range answered {
		d.To = append(d.To, target(a, byName))
	}
	d.Annotations = annotations(asked, d.To, d.NotAsked)
}

func (d *Document) count(asked []Asked) {
	hosts := map[string]bool{}
	for _, a := range asked {
		d.Ingresses += len(a.Ingresses)
		for _, i := range a.Ingresses {
			for _, host := range i.Hosts {
				hosts[host] = true
			}
		}
		if a.Case != nil {
			d.Requests += requests(a.Case)
		}
	}
	d.Hosts = len(hosts)
}

func requests(c *behave.Case) int {
	n := 0
	for _, s := range c.Steps {
		if s.Request.Request != "" {
			n++
		}
	}
	return n
}

func target(a Answered, asked map[string]Asked) Target {
	t := Target{Name: a.Name, Differences: []Difference{}, NotCompared: []diff.NotCompared{}, Unreached: append([]string{}, a.Unreached...)}
	for _, n := range a.Diff.NotCompared {
		n.Why = strings.Replace(n.Why, " on B: ", ": ", 1) // the target is the only side that was not recorded
		t.NotCompared = append(t.NotCompared, n)
	}
	for name, one := range asked {
		if !t.lacks(name) {
			t.Requests += requests(one.Case)
		}
	}
	for _, found := range a.Diff.Differences {
		t.Differences = append(t.Differences, difference(found, asked[found.Case], a.Answers[found.Case]))
	}
	return t
}

// lacks reports whether a case was not compared.
func (t Target) lacks(name string) bool {
	return slices.ContainsFunc(t.NotCompared, func(n diff.NotCompared) bool { return n.Case == name })
}

func difference(found diff.Difference, asked Asked, to []string) Difference {
	d := Difference{Difference: found, Ingresses: blamed(found.Causes, asked.Ingresses)}
	if d.Causes == nil {
		d.Causes = []string{}
	}
	if asked.Case == nil {
		return d
	}
	n := slices.IndexFunc(asked.Case.Steps, func(s behave.Step) bool { return s.Line == found.Line })
	if n < 0 {
		return d
	}
	step := asked.Case.Steps[n]
	for _, name := range slices.Sorted(maps.Keys(step.Headers)) {
		d.Headers = append(d.Headers, name+": "+strings.Join(step.Headers[name], ", "))
	}
	if _, target, found := strings.Cut(step.Request.Request, " "); found {
		if u, err := url.Parse(target); err == nil {
			d.Host, d.Path = u.Host, u.EscapedPath()
		}
	}
	d.From, d.To = nth(asked.Answers, n), nth(to, n)
	return d
}

// blamed returns the ingresses with an annotation that is among the causes, or all ingresses if
// none has one.
func blamed(causes []string, all []derive.Ingress) []string {
	named, members := []string{}, []string{}
	for _, i := range all {
		members = append(members, i.Object)
		if slices.ContainsFunc(i.Annotations, func(name string) bool { return slices.Contains(causes, annotationPrefix+name) }) {
			named = append(named, i.Object)
		}
	}
	if len(named) == 0 {
		return members
	}
	return named
}

// nth returns the answer to step n.
func nth(answers []string, n int) string {
	if n >= len(answers) {
		return "unknown"
	}
	return answers[n]
}

// Answers describes the answer to each step of a case.
func Answers(records []behave.Record) []string {
	var all []string
	for _, r := range records {
		all = append(all, answer(r))
	}
	return all
}

func answer(record behave.Record) string {
	counts := map[string]int{}
	for _, e := range record.Exchanges {
		counts[exchange(e)]++
	}
	texts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	if len(record.Exchanges) > 1 {
		for i, text := range texts {
			texts[i] = fmt.Sprintf("%d × %s", counts[text], text)
		}
	}
	return strings.Join(texts, ", ")
}

// exchange describes one answer, as in: 200 from web, 308 to https://shop.example/, 503 from no pod.
func exchange(e behave.Exchange) string {
	if e.Failure != "" {
		return "no answer: " + e.Failure
	}
	text := fmt.Sprint(e.Status)
	if word := http.StatusText(e.Status); word != "" {
		text += " " + word
	}
	if to := e.Header.Get("Location"); to != "" {
		text += " to " + to
	}
	for _, r := range e.Received {
		if r.Answered {
			return text + ", from " + r.Service
		}
	}
	return text + ", from no pod"
}

// annotations returns the annotations of the ingresses, with their numbers on each controller.
func annotations(asked []Asked, to []Target, omitted []derive.Omission) []Annotation {
	found := annotationsOf(asked, to, omitted)
	found.countRequests(asked, to)
	found.countDifferences(to)
	all := []Annotation{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all = append(all, *found[name])
	}
	slices.SortStableFunc(all, func(a, b Annotation) int { return cmp.Compare(b.differ(), a.differ()) })
	return all
}

// annotationsByName are the annotations of the ingresses, by name without prefix.
type annotationsByName map[string]*Annotation

// annotationsOf returns the annotations of the ingresses, with only the ingresses counted.
func annotationsOf(asked []Asked, to []Target, omitted []derive.Omission) annotationsByName {
	found := annotationsByName{}
	for _, a := range asked {
		for _, i := range a.Ingresses {
			for _, name := range i.Annotations {
				if found[name] == nil {
					found[name] = newAnnotation(name, to, omitted)
				}
				found[name].Ingresses++
				if a.Case == nil {
					found[name].NotAsked = cmp.Or(found[name].NotAsked, "not recorded")
				}
			}
		}
	}
	return found
}

// about returns the annotation that a text such as annotation/NAME names, or nil.
func (found annotationsByName) about(text string) *Annotation {
	name, is := strings.CutPrefix(text, annotationPrefix)
	if !is {
		return nil
	}
	return found[name]
}

// countRequests counts the requests about each annotation, and those that were compared.
func (found annotationsByName) countRequests(asked []Asked, to []Target) {
	for _, a := range asked {
		if a.Case == nil {
			continue
		}
		for _, step := range a.Case.Steps {
			for _, about := range step.About {
				if one := found.about(about); one != nil {
					one.countRequest(a.Case.Name, to)
				}
			}
		}
	}
}

// countRequest counts a request of a case.
func (a *Annotation) countRequest(name string, to []Target) {
	a.Requests++
	for n, t := range to {
		if !t.lacks(name) {
			a.To[n].Compared++
		}
	}
}

// countDifferences counts the differences that each annotation causes.
func (found annotationsByName) countDifferences(to []Target) {
	for n, t := range to {
		for _, d := range t.Differences {
			for _, cause := range d.Causes {
				if one := found.about(cause); one != nil {
					one.To[n].Differ++
				}
			}
		}
	}
}

func newAnnotation(name string, to []Target, omitted []derive.Omission) *Annotation {
	a := &Annotation{Name: name, To: []Fate{}}
	for _, t := range to {
		a.To = append(a.To, Fate{Name: t.Name})
	}
	for _, o := range omitted {
		if o.What == annotationPrefix+name {
			a.NotAsked = o.Why
		}
	}
	return a
}

// differ returns the number of requests in which the annotation differs, on all controllers together.
func (a Annotation) differ() int {
	n := 0
	for _, f := range a.To {
		n += f.Differ
	}
	return n
}
