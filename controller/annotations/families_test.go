package annotations_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/internal/golden"
)

// Each file in testdata covers a family. A case consists of the annotations of an ingress without
// their prefix (CASE.yaml), an optional ConfigMap (CASE.config.yaml), and the expected differences
// from the values without annotations, with the problems (CASE).
func TestFamilies(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no families in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := make(map[string]string)
			for _, f := range archive.Files {
				in[f.Name] = string(f.Data)
			}
			out := txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				name, isInput := strings.CutSuffix(f.Name, ".yaml")
				if !isInput {
					continue
				}
				out.Files = append(out.Files, f)
				if in[name+".config.yaml"] == "" {
					name = strings.TrimSuffix(name, ".config")
					made := outcome(t, in[name+".yaml"], in[name+".config.yaml"])
					out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(made)})
				}
			}
			golden.Check(t, file, txtar.Format(&out))
		})
	}
}

// outcome formats the result of parsing annotations.
func outcome(t *testing.T, given, config string) string {
	t.Helper()
	set, problems, err := annotations.Parse(ingress(t, given), with(t, config))
	if err != nil {
		return "rejected: " + err.Error() + "\n"
	}
	none, _, _ := annotations.Parse(ingress(t, ""), with(t, config))
	var text strings.Builder
	describe(&text, "", reflect.ValueOf(none), reflect.ValueOf(set))
	for _, problem := range problems {
		fmt.Fprintf(&text, "problem: %s: %s\n", problem.Key, problem.Reason)
	}
	return text.String()
}

// describe writes the fields that differ.
func describe(text *strings.Builder, path string, was, is reflect.Value) {
	if is.Kind() == reflect.Struct {
		for i := range is.NumField() {
			name := "." + is.Type().Field(i).Name
			if is.Type().Field(i).Anonymous {
				name = ""
			}
			describe(text, path+name, was.Field(i), is.Field(i))
		}
		return
	}
	if reflect.DeepEqual(was.Interface(), is.Interface()) {
		return
	}
	if is.Kind() == reflect.Pointer && !is.IsNil() {
		is = is.Elem()
	}
	fmt.Fprintf(text, "%s = %#v\n", strings.TrimPrefix(path, "."), is.Interface())
}

func ingress(t testing.TB, given string) *networkingv1.Ingress {
	t.Helper()
	var short map[string]string
	if err := yaml.Unmarshal([]byte(given), &short); err != nil {
		t.Fatalf("%v in\n%s", err, given)
	}
	all := make(map[string]string)
	for name, value := range short {
		all[annotations.DefaultPrefix+"/"+name] = value
	}
	return &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "6ba7b810", Annotations: all}}
}

func with(t testing.TB, config string) options.Options {
	t.Helper()
	var data map[string]string
	if err := yaml.Unmarshal([]byte(config), &data); err != nil {
		t.Fatalf("%v in\n%s", err, config)
	}
	parsed, problems := options.Parse(data, options.Defaults(2, true))
	if len(problems) > 0 {
		t.Fatalf("the ConfigMap is wrong: %v", problems)
	}
	return options.Options{Config: parsed}
}

// An object from a manifest file has no UID. A host has one mirroring location per source, so two
// ingresses of the host must not have the same one.
func TestMirrorsOfIngressesWithoutUIDs(t *testing.T) {
	source := func(name string) string {
		mirroring := ingress(t, "mirror-target: http://copies.example/"+name)
		mirroring.Name, mirroring.UID = name, ""
		set, _, err := annotations.Parse(mirroring, with(t, ""))
		if err != nil {
			t.Fatal(err)
		}
		return set.Mirror.Source
	}
	if a, b := source("a"), source("b"); a == b {
		t.Errorf("both ingresses have the source %q, so requests of the second are copied to the target of the first", a)
	}
}
