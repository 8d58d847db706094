package clusters_test

import (
	"reflect"
	"strings"
	"testing"

	"windtunnel.dev/sim/corpus/clusters"
)

func TestIndexIsReadAsWritten(t *testing.T) {
	c := clusters.Generate(40, 2)
	index := clusters.Index{Schema: clusters.Schema}.With(c.Entry("a", 40, 2)).With(clusters.Entry{Name: "b", Source: clusters.Imported})
	index = index.With(clusters.Entry{Name: "b", Ingresses: 7, Source: clusters.Imported}) // replaces the first one
	data, err := index.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	read, err := clusters.ParseIndex(data)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read, index) || len(read.Clusters) != 2 || read.Clusters[1].Ingresses != 7 {
		t.Errorf("read %+v, wrote %+v", read, index)
	}
	if got := read.Clusters[0].File(); got != "a.yaml" {
		t.Errorf("the file is %s", got)
	}
}

func TestBadIndex(t *testing.T) {
	for text, want := range map[string]string{
		"clusters: []":                                                                       "not the index of a corpus",
		`{"schema": "windtunnel.dev/corpus/v0"}`:                                             `the schema is "windtunnel.dev/corpus/v0"`,
		`{"schema": "windtunnel.dev/corpus/v1", "more": 1}`:                                  `unknown field "more"`,
		`{"schema": "windtunnel.dev/corpus/v1", "clusters": [{"name": "../a"}]}`:             `cluster "../a": want a file name`,
		`{"schema": "windtunnel.dev/corpus/v1", "clusters": [{"name": "a"}, {"name": "a"}]}`: `cluster "a": want a file name without extension, each once`,
	} {
		if _, err := clusters.ParseIndex([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
