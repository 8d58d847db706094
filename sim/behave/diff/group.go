package diff

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave"
)

// Group is the differences of one effect.
type Group struct {
	Effect Effect
	Alike  []Alike
	Steps  int
}

// Alike are the steps that differ in the same way, apart from their own hosts, paths and services.
type Alike struct {
	Difference // the first
	Others     []Difference

	shape []Value // of all of them
}

// Place returns the step with its place in the file.
func (d Difference) Place() string { return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Step) }

// Also returns the number of other steps in words, as in "and 3 other steps", or "" if there are
// none. what is the noun in the singular.
func (a Alike) Also(what string) string {
	if len(a.Others) == 0 {
		return ""
	}
	text := "and " + plural.Of(len(a.Others), what)
	if slices.ContainsFunc(a.Others, func(d Difference) bool { return !slices.Equal(d.Values, a.Values) }) {
		text += " with other names"
	}
	return text
}

// add adds a difference to those that have the same shape and causes.
func (g *Group) add(d Difference) {
	g.Steps++
	shape := d.shape()
	for n := range g.Alike {
		if one := &g.Alike[n]; slices.Equal(one.Causes, d.Causes) && slices.Equal(one.shape, shape) {
			one.Others = append(one.Others, d)
			return
		}
	}
	g.Alike = append(g.Alike, Alike{Difference: d, shape: shape})
}

// shape returns the values with placeholders for names that each step has of its own: the host and the
// path of the request, and the services.
func (d Difference) shape() []Value {
	var pairs []string
	if _, address, ok := strings.Cut(d.Step, " "); ok {
		if request, err := url.Parse(address); err == nil && request.Host != "" {
			if target := request.RequestURI(); target != "/" {
				pairs = append(pairs, request.Host+target, "<host><path>", target, "<path>")
			}
			pairs = append(pairs, request.Host, "<host>")
		}
	}
	names := strings.NewReplacer(pairs...)
	shape := slices.Clone(d.Values)
	for n := range shape {
		v := &shape[n]
		for _, side := range []*string{&v.A, &v.B} {
			if v.What == "service" && *side != behave.None {
				*side = "<service>"
			} else {
				*side = names.Replace(*side)
			}
		}
	}
	return shape
}

// Groups returns differences, which are in the order of their effects, by effect.
func Groups(differences []Difference) []Group {
	var all []Group
	for _, one := range differences {
		if n := len(all); n == 0 || all[n-1].Effect != one.Effect {
			all = append(all, Group{Effect: one.Effect})
		}
		all[len(all)-1].add(one)
	}
	return all
}
