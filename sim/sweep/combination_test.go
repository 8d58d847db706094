package sweep_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/sweep"
)

func plan(t *testing.T, design sweep.Design) []sweep.Planned {
	t.Helper()
	planned, err := sweep.Plan([]byte(text), &design, load)
	if err != nil {
		t.Fatal(err)
	}
	return planned
}

func names(planned []sweep.Planned) []string {
	var all []string
	for _, p := range planned {
		all = append(all, p.String())
	}
	return all
}

var services, rates = sweep.Factor{Path: "population.services", Values: []string{"5", "10"}}, sweep.Factor{Path: "traffic.0.rate", Values: []string{"1/s", "2/s", "3/s"}}

func TestPlanFullFactorial(t *testing.T) {
	planned := plan(t, sweep.Design{Factors: []sweep.Factor{services, rates}})
	want := []string{
		"population.services=5, traffic.0.rate=1/s", "population.services=5, traffic.0.rate=2/s", "population.services=5, traffic.0.rate=3/s",
		"population.services=10, traffic.0.rate=1/s", "population.services=10, traffic.0.rate=2/s", "population.services=10, traffic.0.rate=3/s",
	}
	if got := names(planned); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	last := planned[5]
	if last.Number != 6 || last.Scenario.Population.Services != 10 || last.Scenario.Traffic[0].Rate.String() != "3/s" {
		t.Errorf("%+v", last.Scenario.Spec)
	}
	if last.Folder() != "006-services=10-traffic.0.rate=3_s" {
		t.Error(last.Folder())
	}
}

// The scenario itself is a combination; its own values are not further combinations.
func TestPlanOneAtATime(t *testing.T) {
	design := sweep.Design{Factors: []sweep.Factor{services, rates}, OneAtATime: true}
	planned, err := sweep.Plan([]byte(text), &design, load)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the scenario's own values", "population.services=5", "traffic.0.rate=1/s", "traffic.0.rate=2/s", "traffic.0.rate=3/s"}
	if got := names(planned); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if own := planned[0]; own.ValueOf(design.Factors[0]) != "10" || own.ValueOf(design.Factors[1]) != "10/s" || own.Folder() != "001-own" {
		t.Errorf("%+v of %+v", own.Combination, design.Factors)
	}
	if compared := design.Compared(); !slices.Equal(compared[0].Values, []string{"10", "5"}) {
		t.Errorf("%+v", compared)
	}
}

func TestPlanRefuses(t *testing.T) {
	var many []string
	for i := range 40 {
		many = append(many, fmt.Sprint(i+1))
	}
	for want, factors := range map[string][]sweep.Factor{
		"there is nothing to vary": nil,
		"combination 2 of 2 (population.services=x): x is not a whole number; write digits, such as 2": {{Path: "population.services", Values: []string{"1", "x"}}},
		"combination 1 of 1 (seed=-1): -1 is not a whole number of 0 or more":                          {{Path: "seed", Values: []string{"-1"}}},
		"it is given twice":             {services, services},
		"more than 1000":                {{Path: "population.services", Values: many}, {Path: "population.pods", Values: many}},
		"spec has no field nobody":      {{Path: "nobody", Values: []string{"1"}}},
		"combination 1 of 1 (rounds=0)": {{Path: "rounds", Values: []string{"0"}}},
	} {
		_, err := sweep.Plan([]byte(text), &sweep.Design{Factors: factors}, load)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "story.yaml") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The number of runs is limited, not only that of combinations.
func TestPlanLimitsRuns(t *testing.T) {
	for _, test := range []struct {
		rounds int
		want   string
	}{
		{sweep.MostRuns / 2, ""},
		{sweep.MostRuns/2 + 1, "2 combinations × 5001 rounds are more than 10000 runs; use fewer rounds (--rounds), or vary fewer values"},
		{math.MaxInt, "2 combinations × "},
	} {
		design := sweep.Design{Factors: []sweep.Factor{{Path: "population.services", Values: []string{"1", "2"}}}, Rounds: test.rounds}
		_, err := sweep.Plan([]byte(text), &design, load)
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%d rounds: %v, want %q", test.rounds, err, test.want)
		}
	}
}

// Names of folders have no separators and a limited length.
func TestFolder(t *testing.T) {
	c := sweep.Combination{Number: 7, Settings: []sweep.Setting{{Path: "config.x", Value: "../é/" + strings.Repeat("y", 300)}}}
	if got := c.Folder(); strings.ContainsAny(got, "/é") || len(got) > 120 || !strings.HasPrefix(got, "007-x=.._") {
		t.Error(got)
	}
}
