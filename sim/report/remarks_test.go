package report

import (
	"bytes"
	"html"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// Every format has the remarks: what a population leaves out, which images and programs ran, how pods
// listened, what ran the controller, and which clocks were corrected.
func TestFormatsHaveRemarks(t *testing.T) {
	result := measure.Result{
		Run: event.Run{Scenario: "shop", Images: map[string]string{"a": "registry.example/fork:v1"}, Programs: map[string]string{"b": "/bin/fork"}, Population: &event.Population{File: "shop.yaml", Ingresses: 3, LeftOut: []event.LeftOut{{Why: "no ready pod", Count: 2}}}},
		Subjects: []measure.Subject{{Name: "b", Valid: true}, {
			Name: "a", Valid: true, PodSockets: event.PodSockets{Mode: event.OwnSockets, Why: "too few ports"},
			Launcher: event.Launcher{Why: "permission denied"},
			Clocks:   []measure.Clock{{Node: "node-1", Pod: "observer-1", Role: "observer", Offset: time.Second}},
		}},
	}
	series := measure.Series{Subjects: []measure.Timeline{{Name: "b"}, {Name: "a"}}}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"table":    func(w *bytes.Buffer) error { return Table(w, result, series, nil) },
		"markdown": func(w *bytes.Buffer) error { return Markdown(w, result, series, nil) },
		"html":     func(w *bytes.Buffer) error { return HTML(w, result, series, nil) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		text := html.UnescapeString(strings.ReplaceAll(out.String(), `\`, ""))
		for _, want := range []string{"cluster shop.yaml: 3 ingresses", "no ready pod", "the controller of a is the image registry.example/fork:v1", "the controller of b is the program /bin/fork", "each pod of a had its own sockets: too few ports", "a launcher ran the controller of a without capabilities, because the observer did not see its open files: permission denied", "clock of node-1 (observer-1, observer)"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}

// A suite of the JUnit report names what ran as its subject.
func TestJUnitNamesControllers(t *testing.T) {
	result := measure.Result{
		Run:      event.Run{Images: map[string]string{"a": "registry.example/fork:v1"}, Programs: map[string]string{"b": "/bin/fork"}},
		Subjects: []measure.Subject{{Name: "a", Valid: true}, {Name: "b", Valid: true}, {Name: "c", Valid: true}},
	}
	var out bytes.Buffer
	if err := JUnit(&out, result, nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<property name="controller" value="image registry.example/fork:v1">`, `<property name="controller" value="program /bin/fork">`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not contain %s", want)
		}
	}
	if n := strings.Count(out.String(), `"controller"`); n != 2 {
		t.Errorf("%d controllers are named, want 2:\n%s", n, out.String())
	}
}
