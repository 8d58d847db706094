package churn_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
)

func TestRecordAndReplay(t *testing.T) {
	eachShape(t, func(t *testing.T, p corpus.Population, _ churn.Options, stream churn.Stream) {
		s := churn.Recording{Population: p, Stream: stream, Left: map[string]int{"deleted ingresses": 2}}
		var file bytes.Buffer
		if err := churn.Write(&file, s); err != nil {
			t.Fatal(err)
		}
		replayed, err := churn.Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, replayed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-recorded +replayed:\n%s", diff)
		}
	})
}

// TestSeedIsStableAcrossVersions checks that a seed gives the same changes in every version of
// Windtunnel.
func TestSeedIsStableAcrossVersions(t *testing.T) {
	var file bytes.Buffer
	p := population(4, 2)
	s := churn.RollingUpdate(p, churn.Options{Seed: 1, Rate: 2, For: 5 * time.Second, Start: time.Second})
	if err := churn.Write(&file, churn.Recording{Population: p, Stream: s}); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/rolling-update.jsonl", file.Bytes())
}

func TestBadFiles(t *testing.T) {
	const head = `{"schema":"windtunnel.dev/recording/v1","length":10,"changes":2,"population":{"services":[{"namespace":"demo","name":"a","pods":["a-1"]}]}}` + "\n"
	const first = `{"id":1,"at":5,"service":"demo/a","add":["a-2"],"remove":["a-1"]}` + "\n"
	for _, test := range []struct{ name, file, want string }{
		{"empty", "", "line 1: the file is empty"},
		{"another schema", `{"schema":"events"}`, `line 1: schema "events"`},
		{"not JSON", head + first + "no\n", "line 3: invalid character"},
		{"unknown field", head + `{"id":1,"pod":"a"}`, `line 2: json: unknown field "pod"`},
		{"two values", head + strings.TrimSpace(first) + first, "line 2: more than one value"},
		{"cut short", head + first, "line 2: the file ends after 1 change, but its header gives 2"},
		{"cut in a line", head + first + first[:20], "line 3: the line is cut off"},
		{"no ID", head + `{"at":5,"service":"demo/a","add":["a-2"],"remove":["a-1"]}`, "line 2: change 0 after change 0"},
		{"same ID", head + first + first, "line 3: change 1 after change 1"},
		{"out of order", head + first + strings.NewReplacer(`"id":1`, `"id":2`, `"at":5`, `"at":4`).Replace(first), "line 3: change 2 at 4ns, before"},
		{"too late", head + strings.Replace(first, `"at":5`, `"at":11`, 1), "line 2: change 1 at 11ns, after the end"},
		{"no service", head + `{"id":1,"at":5,"add":["a-2"],"remove":["a-1"]}`, "line 2: change 1 without a service"},
		{"nothing", head + `{"id":1,"at":5,"service":"demo/a"}`, "line 2: change 1 does 0 things"},
		{"two things", head + `{"id":1,"at":5,"service":"demo/a","add":["a-2"],"host":"a"}`, "line 2: change 1 does 2 things"},
		{"the same pod", head + `{"id":1,"at":5,"service":"demo/a","add":["a-1"],"remove":["a-1"]}`, `line 2: change 1 adds a-1, which demo/a already has`},
		{"a pod without a name", head + `{"id":1,"at":5,"service":"demo/a","add":[""]}`, `line 2: change 1 has a pod without a name`},
		{"an existing pod", head + `{"id":1,"at":5,"service":"demo/a","add":["a-1"]}`, `line 2: change 1 adds a-1, which demo/a already has`},
		{"a removed pod", head + first + `{"id":2,"at":5,"service":"demo/a","remove":["a-1"]}`, `line 3: change 2 removes a-1, which demo/a does not have`},
		{"another service", head + `{"id":1,"at":5,"service":"demo/b","host":"b"}`, `line 2: change 1 is of demo/b, which is not in the population`},
		{"a service twice", strings.Replace(head, `"services":[`, `"services":[{"namespace":"demo","name":"a"},`, 1), "line 1: service demo/a is in the population twice"},
		{"an ingress without a path", strings.Replace(head, `"services"`, `"ingresses":[{"name":"i","further":1}],"services"`, 1), "line 1: ingress i of the population has no path"},
		{"an ingress to nowhere", strings.Replace(head, `"services"`, `"namespace":"demo","ingresses":[{"name":"i","paths":[{"service":"b"}]}],"services"`, 1), "line 1: ingress i routes to demo/b, which is not in the population"},
		{"touches nothing", head + `{"id":1,"at":5,"service":"demo/a","touch":"pod"}`, `line 2: change 1 touches "pod"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := churn.Read(strings.NewReader(test.file))
			if err == nil {
				t.Fatalf("no error, read %+v", s)
			}
			if !strings.HasPrefix(err.Error(), "read recording: "+test.want) {
				t.Errorf("got  %v\nwant read recording: %s…", err, test.want)
			}
		})
	}
}

// FuzzRead checks that Write and Read turn an accepted recording into the same recording.
func FuzzRead(f *testing.F) {
	var file bytes.Buffer
	p := population(2, 2)
	if err := churn.Write(&file, churn.Recording{Population: p, Stream: churn.RollingUpdate(p, churn.Options{Seed: 1, Rate: 1, For: 3 * time.Second})}); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte(`{"schema":"windtunnel.dev/recording/v1","length":10,"changes":0}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := churn.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := churn.Write(&again, s); err != nil {
			t.Fatal(err)
		}
		replayed, err := churn.Read(&again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, replayed, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-read +read again:\n%s", diff)
		}
	})
}
