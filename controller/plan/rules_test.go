package plan_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/golden"
)

// A rule of the controller is a file in testdata: a cluster (cluster.yaml) and
// options (options.yaml), both perhaps changed in a second moment (then.yaml
// over the first, then-options.yaml instead), and after them what the
// controller makes of it. nginx.conf stands there whole in the files whose
// comment asks for it, elsewhere in outline.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no rules in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := rule{t: t, comment: archive.Comment, in: make(map[string][]byte)}
			for _, f := range archive.Files {
				if strings.HasSuffix(f.Name, ".yaml") {
					r.out.Files = append(r.out.Files, f)
					r.in[f.Name] = f.Data
				}
			}
			r.out.Comment = archive.Comment
			r.play()
			golden.Check(t, file, txtar.Format(&r.out))
		})
	}
}

// rule is one file being played.
type rule struct {
	t       *testing.T
	comment []byte
	in      map[string][]byte
	out     txtar.Archive
}

func (r *rule) play() {
	first := r.moment(r.source("cluster.yaml"), r.options("options.yaml"), "")
	if r.in["then.yaml"] == nil && r.in["then-options.yaml"] == nil {
		return
	}
	opts := "options.yaml"
	if r.in["then-options.yaml"] != nil {
		opts = "then-options.yaml"
	}
	second := r.moment(overlay{r.source("cluster.yaml"), r.source("then.yaml")}, r.options(opts), "then ")
	r.write("plan", describe(plan.Diff(first, second)))
}

func (r *rule) source(name string) snapshot.Source {
	source, err := snapshot.FromYAML(snapshot.File{Name: name, Data: r.in[name]})
	if err != nil {
		r.t.Fatal(err)
	}
	return source
}

func (r *rule) options(name string) parsed {
	var given struct {
		Flags  flags             `json:"flags"`
		Config map[string]string `json:"config"`
	}
	if err := yaml.UnmarshalStrict(r.in[name], &given); err != nil {
		r.t.Fatalf("%s: %v", name, err)
	}
	return parse(given.Flags, given.Config)
}

// moment builds, renders and encodes, and writes down what came of it.
func (r *rule) moment(source snapshot.Source, opts parsed, when string) plan.State {
	built, findings := model.Build(snapshot.Take(source), opts.Options)
	state, err := plan.Next(built, input(opts.Options))
	if err != nil {
		r.t.Fatal(err)
	}
	var found bytes.Buffer
	for _, f := range opts.findings {
		fmt.Fprintln(&found, "ConfigMap:", f)
	}
	for _, f := range append(findings, render.Findings(built, input(opts.Options))...) {
		fmt.Fprintln(&found, f)
	}
	r.write(when+"findings", found.String())
	if when == "" {
		r.write("model", summary(built))
		if bytes.Contains(r.comment, []byte("in full")) {
			r.write("nginx.conf", string(state.Conf))
			r.write("cfg.json", string(state.LuaConfig))
			r.write("backends.json", string(state.Backends.Body()))
		} else {
			r.write("nginx.conf in outline", outline(state.Conf))
		}
	}
	r.t.Run(when+"nginx -t", func(t *testing.T) { testConf(t, source, opts.Options) })
	return state
}

func (r *rule) write(name, text string) {
	if text == "" {
		return
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	r.out.Files = append(r.out.Files, txtar.File{Name: name, Data: []byte(text)})
}

func input(opts options.Options) render.Input {
	return render.Input{Options: opts, FileLimit: 65536, Resolvers: []string{"10.96.0.10"}}
}
