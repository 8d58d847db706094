package sweep_test

import (
	"reflect"
	"strings"
	"testing"

	"windtunnel.dev/sim/sweep"
)

func TestParseFactor(t *testing.T) {
	for text, want := range map[string]sweep.Factor{
		"population.services=10,100":                             {Path: "population.services", Values: []string{"10", "100"}},
		"traffic.0.rate = 10/s , 90/m":                           {Path: "traffic.0.rate", Values: []string{"10/s", "90/m"}},
		`config.log-format-upstream="a, b",c`:                    {Path: "config.log-format-upstream", Values: []string{"a, b", "c"}},
		`config.http-snippet=""," x "`:                           {Path: "config.http-snippet", Values: []string{"", " x "}},
		`config.x=a, "b, c" ,	" d"`:                              {Path: "config.x", Values: []string{"a", "b, c", " d"}},
		"subjects.0.flags.sync-rate-limit=1":                     {Path: "subjects.0.flags.sync-rate-limit", Values: []string{"1"}},
		"population.annotations.nginx.ingress.kubernetes.io/x=a": {Path: "population.annotations.nginx.ingress.kubernetes.io/x", Values: []string{"a"}},
		"config.x=a=b":                                           {Path: "config.x", Values: []string{"a=b"}},
		"timeline.0.drain=0s,5s":                                 {Path: "timeline.0.drain", Values: []string{"0s", "5s"}},
	} {
		got, err := sweep.ParseFactor(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestParseFactorRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"population.services":       "is not PATH=V1,V2",
		"=1":                        "is not PATH=V1,V2",
		"population.services=":      "is empty",
		"population.services=1,,2":  "is empty",
		"population.services=1,1":   "the value 1 is given twice",
		`config.x="a`:               "is not closed",
		"population.service=1":      "did you mean services?",
		"population=1":              "add one of its fields: namespace",
		"traffic=1":                 "add the number of an item",
		"traffic.first.rate=1/s":    "first is not the number of an item",
		"traffic.-1.rate=1/s":       "-1 is not the number of an item",
		"config=1":                  "add one of its keys",
		"population.services.x=1":   "population.services is a single value and has no field x",
		"subjects.0.line=1":         "has no field line",
		"population.services..x=1":  "is a single value",
		"traffic.0.ramp=1/s":        "add one of its fields: to, over",
		"metadata.name=a":           "spec has no field metadata",
		"subjects.0.resources.cp=1": "did you mean cpu?",
	} {
		if _, err := sweep.ParseFactor(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// A parsed factor with its values quoted parses to the same factor.
func FuzzParseFactor(f *testing.F) {
	for _, text := range []string{"population.services=1,2", `config.x="a,b", c`, `config.x=a, "b"`, "a", "=", `config.x="`, "traffic.0.rate=1/s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := sweep.ParseFactor(text)
		if err != nil {
			return
		}
		var quoted []string
		for _, value := range got.Values {
			quoted = append(quoted, `"`+value+`"`)
		}
		again, err := sweep.ParseFactor(got.Path + "=" + strings.Join(quoted, ","))
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%q is %+v, and quoted %+v, %v", text, got, again, err)
		}
	})
}
