package measure_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// Each archive contains a log, the names of the tested fields, and their expected values for every
// subject.
func TestMeasurements(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]*txtar.File{}
			for i := range archive.Files {
				files[archive.Files[i].Name] = &archive.Files[i]
			}
			result, series, err := measure.From(event.Read(bytes.NewReader(files["log"].Data)))
			if err != nil {
				t.Fatal(err)
			}
			files["result"].Data = excerpt(t, result, series, strings.Fields(string(files["fields"].Data)))
			golden.Check(t, path, txtar.Format(archive))
		})
	}
}

// excerpt returns a line for each subject and field. A field of the timeline is written as
// series.FIELD.
func excerpt(t *testing.T, result measure.Result, series measure.Series, fields []string) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, s := range result.Subjects {
		subject, timeline := object(t, s), object(t, series.Subjects[i])
		for _, field := range fields {
			value := subject[field]
			if name, ok := strings.CutPrefix(field, "series."); ok {
				value = timeline[name]
			}
			if value == nil {
				value = json.RawMessage("absent")
			}
			out.WriteString(s.Name + " " + field + " " + string(value) + "\n")
		}
	}
	return out.Bytes()
}

func object(t *testing.T, v any) map[string]json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}

func TestFromRefuses(t *testing.T) {
	const run = `{"at":0,"run":{"schema":"windtunnel.dev/events/v1","subjects":["a"]}}` + "\n"
	for name, test := range map[string]struct{ log, want string }{
		"empty":          {"", "no run event"},
		"not json":       {"hello", "line 1"},
		"other schema":   {`{"at":0,"run":{"schema":"windtunnel.dev/events/v9"}}`, "events/v9"},
		"two runs":       {run + run, "second run"},
		"before start":   {run + `{"at":-1,"subject":"a"}`, "before the start"},
		"ends unbegun":   {run + `{"at":1,"subject":"a","phase":{"name":"round-end","round":1}}`, "never began"},
		"round in round": {run + `{"at":1,"subject":"a","phase":{"name":"round-begin"}}` + "\n" + `{"at":2,"subject":"a","phase":{"name":"round-begin"}}`, "inside another"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := measure.From(event.Read(strings.NewReader(test.log)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
}
