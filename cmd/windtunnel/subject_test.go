package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/scenario"
)

func TestParseSubject(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(here, name) }
	for _, name := range []string{"plain", "other.yaml", "my-controller", "A_b", "fork"} {
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]scenario.Subject{
		"bundled":                         {Name: "bundled", Controller: "bundled"},
		"ingress-nginx":                   {Name: "ingress-nginx", Adapter: "ingress-nginx", Controller: "bundled"},
		"./my-controller":                 {Name: "my-controller", Controller: in("my-controller")},
		in("A_b"):                         {Name: "a-b", Controller: in("A_b")},
		"plain":                           {Name: "plain", Controller: in("plain")},
		"image:registry.example/fork:v1":  {Name: "fork-v1", Controller: "image:registry.example/fork:v1"},
		"image:./fork.tar":                {Name: "fork", Controller: "image:" + in("fork.tar")},
		"image:Fork_1.tar":                {Name: "fork-1", Controller: "image:" + in("Fork_1.tar")},
		"other.yaml=image:/x/o.tar":       {Name: "other", Adapter: in("other.yaml"), Controller: "image:/x/o.tar"},
		"ingress-nginx=./fork":            {Name: "ingress-nginx", Adapter: "ingress-nginx", Controller: in("fork")},
		"other.yaml=./fork":               {Name: "other", Adapter: in("other.yaml"), Controller: in("fork")},
		"./other.yaml":                    {Name: "other", Adapter: in("other.yaml")},
		"bundled,lua=lua,template=n.tmpl": {Name: "bundled", Controller: "bundled", Lua: in("lua"), Template: in("n.tmpl")},
		"bundled,nginx=nginx,name=a":      {Name: "a", Controller: "bundled", Nginx: "nginx"},
		"bundled,flag.v=2,config.k=a=b": {
			Name: "bundled", Controller: "bundled", Flags: map[string]string{"v": "2"}, Config: map[string]string{"k": "a=b"},
		},
	} {
		got, err := parseSubject(text, false)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if got, err := parseSubject("registry.example/fork", true); err != nil || got.Controller != "image:registry.example/fork" {
		t.Errorf("an image: %+v, %v", got, err)
	}
}

func TestParseSubjectRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("data", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":                       "it is empty",
		"bundeld":                "did you mean bundled?",
		"ingres-nginx=./x":       "did you mean ingress-nginx?",
		"bundled,luaa=x":         "did you mean lua?",
		"bundled,lua":            `"lua" is not KEY=VALUE`,
		"bundled,flag=x":         "unknown setting flag",
		"bundled,config.":        `"config." is not KEY=VALUE`,
		"bundled,name=../../esc": `"../../esc" cannot be the name of a subject; use lower-case letters, digits and dashes, at most 63`,
		"bundled,name=a/b":       "cannot be the name",
		"bundled,name=<b>x</b>":  "cannot be the name",
		"bundled,name=Ä":         "cannot be the name",
		"bundled,name=":          "a subject without a name",
		"nonsense,flag.v=2":      "neither a file nor an adapter",
		"ingress-nginx=nonsense": "neither a file nor an adapter",
		"./data":                 "./data is not executable",
		"ingress-nginx=./folder": "./folder is a folder",
		"bundled,template=":      "template= names no file",
		"bundled,lua=":           "lua= names no file",
		"bundled,nginx=":         "nginx= names no file",
	} {
		if _, err := parseSubject(text, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
