package compile_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/internal/rule"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/golden"
)

// flags and parse are shorthands for package rule.
type flags = rule.Flags

type parsed struct {
	options.Options
	problems []options.Problem
}

func parse(f flags, config map[string]string) parsed {
	opts, problems := rule.Options(f, config)
	return parsed{opts, problems}
}

// A rule for a change is a file in testdata. Its input is a cluster (cluster.yaml), options
// (options.yaml), and a change of either: then.yaml is merged over the first cluster,
// then-options.yaml replaces the first options. Its output is the result for both, and the plan
// that leads from one to the other. Files whose comment contains "in full" show all of nginx.conf,
// the others an outline.
func TestRulesOfChanges(t *testing.T) {
	for _, file := range rule.Files(t, "testdata") {
		t.Run(file.Name(), func(t *testing.T) {
			t.Parallel()
			r := ruleTest{T: t, File: file, out: file.Input()}
			r.run()
			golden.Check(t, file.Path, txtar.Format(&r.out))
		})
	}
}

// Package model contains the rules for single clusters. One file here contains the outlines of all
// their results.
func TestOutlinesOfModelRules(t *testing.T) {
	var outlines txtar.Archive
	outlines.Comment = []byte("Outlines of the results of the rules in ../../model/testdata.\n\n")
	for _, file := range rule.Files(t, "../model/testdata") {
		r := ruleTest{T: t, File: file}
		compiled, opts := r.compile(file.Cluster(t), "options.yaml")
		outlines.Files = append(outlines.Files, txtar.File{Name: file.Name(), Data: []byte(outline(compiled.State.Conf.Bytes()) + "\n")})
		t.Run(file.Name()+" nginx -t", func(t *testing.T) {
			t.Parallel()
			testConf(t, file.Cluster(t), opts)
		})
	}
	golden.Check(t, filepath.Join("testdata", "outlines", "of-the-model.txtar"), txtar.Format(&outlines))
}

// ruleTest is one file under test.
type ruleTest struct {
	*testing.T
	*rule.File
	out txtar.Archive
}

func (r *ruleTest) run() {
	first := r.moment(r.Cluster(r), "options.yaml", "")
	if !r.Has("then.yaml") && !r.Has("then-options.yaml") {
		return
	}
	opts := "options.yaml"
	if r.Has("then-options.yaml") {
		opts = "then-options.yaml"
	}
	second := r.moment(rule.Overlay{Under: r.Cluster(r), Over: r.Source(r, "then.yaml")}, opts, "then ")
	r.write("plan", describe(plan.Diff(first, second)))
}

// compile compiles a cluster with the options of a file.
func (r *ruleTest) compile(source snapshot.Source, name string) (compile.Compiled, options.Options) {
	r.Helper()
	given, config := r.Options(r, name)
	cluster := snapshot.Take(source)
	if cluster.ConfigMaps == nil {
		cluster.ConfigMaps = make(map[types.NamespacedName]*corev1.ConfigMap)
	}
	cluster.ConfigMaps[configMap] = &corev1.ConfigMap{Data: config}
	flagsOnly, _ := rule.Options(given, nil)
	compiled, err := compile.Compile(cluster, compile.Input{Input: input(flagsOnly), ConfigMap: configMap})
	if err != nil {
		r.Fatal(err)
	}
	return compiled, compiled.Input.Options
}

// moment compiles a cluster and adds the result to the output.
func (r *ruleTest) moment(source snapshot.Source, opts, when string) plan.State {
	compiled, used := r.compile(source, opts)
	r.write(when+"findings", rule.Findings(compiled.Findings))
	if when == "" {
		r.write("model", rule.Summary(compiled.Model))
		if bytes.Contains(r.Comment, []byte("in full")) {
			r.write("nginx.conf", compiled.State.Conf.String())
			r.write("cfg.json", string(compiled.State.LuaConfig))
			r.write("backends.json", string(compiled.State.Backends.Body()))
		} else {
			r.write("nginx.conf in outline", outline(compiled.State.Conf.Bytes()))
		}
	}
	r.Run(when+"nginx -t", func(t *testing.T) { testConf(t, source, used) })
	return compiled.State
}

func (r *ruleTest) write(name, text string) {
	if text == "" {
		return
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	r.out.Files = append(r.out.Files, txtar.File{Name: name, Data: []byte(text)})
}

var resolvers = []string{"10.96.0.10"}

func input(opts options.Options) render.Input {
	return render.Input{Options: opts, FileLimit: 65536, Resolvers: resolvers}
}

func describe(steps []plan.Step) string {
	if len(steps) == 0 {
		return "nothing to do\n"
	}
	var text strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&text, "%s\n", step.Kind)
		for _, why := range step.Why {
			fmt.Fprintf(&text, "  %s\n", why)
		}
	}
	return text.String()
}
