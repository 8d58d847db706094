package derive_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	yaml3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/manifest"
)

var options = derive.Options{
	Class:     "nginx",
	ConfigMap: types.NamespacedName{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"},
}

// TestDerive derives cases from the first file of each archive. The other files are the expected
// omissions, questions and cases.
func TestDerive(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			derived := deriveFile(t, path)
			archive.Files = append(archive.Files[:1], txtar.File{Name: "omissions", Data: omissions(derived)})
			for _, c := range derived.Cases {
				text := valid(t, c)
				if !bytes.Contains(archive.Comment, []byte("whole files")) {
					text = questions(t, c)
				}
				archive.Files = append(archive.Files, txtar.File{Name: c.Name + ".yaml", Data: text})
			}
			golden.Check(t, path, txtar.Format(archive))
		})
	}
}

// deriveFile derives the cases of the first file of an archive, with the flags in its comment.
func deriveFile(t *testing.T, path string) derive.Derived {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := manifest.Parse(archive.Files[0].Name, archive.Files[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	o := options
	o.Flags = flags(string(archive.Comment))
	return derive.Of(manifests, o)
}

// questions returns the pods and the steps of a case, one per line.
func questions(t *testing.T, c *derive.Case) []byte {
	t.Helper()
	var out bytes.Buffer
	line := func(prefix string, value any) {
		var node yaml3.Node
		if err := node.Encode(value); err != nil {
			t.Fatal(err)
		}
		flow(&node)
		text, err := yaml3.Marshal(&node)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s%s", prefix, text)
	}
	line("pods: ", c.Pods)
	if c.Certificates != nil {
		line("certificates: ", c.Certificates)
	}
	for _, step := range c.Steps {
		line("- ", step)
	}
	return out.Bytes()
}

func flow(node *yaml3.Node) {
	node.Style |= yaml3.FlowStyle
	for _, child := range node.Content {
		flow(child)
	}
}

// flags returns the flags in the comment of an archive: --name=value.
func flags(comment string) map[string]string {
	all := map[string]string{}
	for _, text := range strings.Fields(comment) {
		if name, value, ok := strings.Cut(strings.TrimPrefix(text, "--"), "="); ok {
			all[name] = value
		}
	}
	return all
}

func omissions(d derive.Derived) []byte {
	var out bytes.Buffer
	for _, o := range d.Omissions {
		fmt.Fprintf(&out, "%s: %s%s\n", o.What, o.Why, strings.TrimSuffix(" ("+strings.Join(o.Objects, ", ")+")", " ()"))
	}
	return out.Bytes()
}

// valid returns the case as a file, which must be valid.
func valid(t *testing.T, c *derive.Case) []byte {
	t.Helper()
	text, err := c.Placeholder().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := behave.Parse("cases/"+c.Name+".yaml", text, behave.Known{}); err != nil {
		t.Errorf("the case is not valid:\n%v\n%s", err, text)
	}
	return text
}

// FuzzOf checks that all manifests give valid cases, and the same ones when they are derived again.
func FuzzOf(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		manifests, err := manifest.Parse(path, archive.Files[0].Data)
		if err != nil {
			f.Fatal(err)
		}
		for _, m := range manifests { // small seeds find more
			text, err := yaml.Marshal(m.Object.Object)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		manifests, err := manifest.Parse("f.yaml", text)
		if err != nil {
			return
		}
		derived := derive.Of(manifests, options)
		again := derive.Of(manifests, options)
		for n, c := range derived.Cases {
			if first, second := valid(t, c), valid(t, again.Cases[n]); !bytes.Equal(first, second) {
				t.Errorf("derived again:\n%s\nfirst:\n%s", second, first)
			}
		}
	})
}
