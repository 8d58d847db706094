package mutate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/internal/golden"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func list(mutants []Mutant) string {
	var text strings.Builder
	for _, m := range mutants {
		fmt.Fprintf(&text, "%s (%s)\n- %s\n+ %s\n", m.Name, m.Site(), m.Was, m.Now)
	}
	return text.String()
}

func TestMutantsOfATemplate(t *testing.T) {
	mutants := OfTemplate(map[string]string{"tiny.tmpl": read(t, "tiny.tmpl")})
	golden.Check(t, "testdata/template.txt", []byte(list(mutants)))
}

func TestMutantsOfLua(t *testing.T) {
	mutants := OfLua(map[string]string{"tiny.lua": read(t, "tiny.lua")})
	golden.Check(t, "testdata/lua.txt", []byte(list(mutants)))
}

func TestMarked(t *testing.T) {
	files := map[string]string{"tiny.tmpl": read(t, "tiny.tmpl")}
	golden.Check(t, "testdata/marked.tmpl", []byte(Marked(files)["tiny.tmpl"]))
	for site := range Sites(files) {
		if !strings.Contains(Marked(files)["tiny.tmpl"], markSign+site+`\n`) {
			t.Errorf("%s has no comment", site)
		}
	}
}

// The names of mutants are unique, and each changes one line.
func TestApplyChangesOneLine(t *testing.T) {
	files := map[string]string{"tiny.tmpl": read(t, "tiny.tmpl"), "tiny.lua": read(t, "tiny.lua")}
	seen := map[string]bool{}
	for _, m := range append(OfTemplate(files), OfLua(files)...) {
		if seen[m.Name] {
			t.Errorf("two mutants are named %s", m.Name)
		}
		seen[m.Name] = true
		changed := Apply(files, m)
		for name, text := range files {
			before, after := strings.Split(text, "\n"), strings.Split(changed[name], "\n")
			if len(before) != len(after) {
				t.Fatalf("%s changes the number of lines of %s", m.Name, name)
			}
			for i := range before {
				if differs := before[i] != after[i]; differs != (name == m.File && i+1 == m.Line) {
					t.Errorf("%s: line %d of %s is %q, was %q", m.Name, i+1, name, after[i], before[i])
				}
			}
		}
	}
}

func FuzzOfTemplate(f *testing.F) {
	for _, name := range []string{"tiny.tmpl", "tiny.lua"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range []string{"{{", "{{/*", "{{ else }}{{ end }}", "'", "x_by_lua_block {", "listen 99999999999999999999;", "\r\n;"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		files := map[string]string{"x": text}
		for _, m := range append(OfTemplate(files), OfLua(files)...) {
			if changed := Apply(files, m)["x"]; changed == text || strings.Count(changed, "\n") != strings.Count(text, "\n") {
				t.Errorf("%s changes %q to %q", m.Name, text, changed)
			}
		}
		ReadMarks(Marked(files)["x"])
	})
}

func TestReadMarks(t *testing.T) {
	got := ReadMarks(`
#@line nginx.tmpl:1
daemon off;
http {
	#@line http.tmpl:1
	map $a $b { default "${a}{"; }
	server {
		#@line server.tmpl:1
		server_name "a.example" www.a.example;
		location ~ "^/{2}" { # {
			#@line location.tmpl:1
			return 200 "${cors} asked";
		}
	}
	server {
		#@line default.tmpl:1
		listen 8181;
	}
	#@line http.tmpl:2
}
`)
	site := func(names ...string) map[string]bool {
		all := map[string]bool{}
		for _, name := range names {
			all[name] = true
		}
		return all
	}
	a := site("server.tmpl:1", "location.tmpl:1")
	want := Reached{
		Everywhere: site("nginx.tmpl:1", "http.tmpl:1", "default.tmpl:1", "http.tmpl:2"),
		Servers:    map[string]map[string]bool{"a.example": a, "www.a.example": a},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOrderPutsSimilarCasesFirst(t *testing.T) {
	files := map[string]string{"cors.tmpl": "set $x 1;\nadd_header Access-Control-Max-Age $cors_age always;"}
	mutants := OfTemplate(files)
	ranker := NewRanker(map[string]string{
		"routing/paths":  "request: GET http://paths.example/a",
		"cors/max-age":   "headers: {Access-Control-Max-Age: 10}",
		"redirects/root": "headers: {Location: /x}",
	})
	names := []string{"redirects/root", "routing/paths", "cors/max-age"}
	if order := ranker.Order(files, mutants[len(mutants)-1], names); order[0] != "cors/max-age" {
		t.Errorf("order %v", order)
	}
	if similar := ranker.Similar(files, mutants, "cors/max-age"); similar[0].Line != 2 {
		t.Errorf("first %s", similar[0].Name)
	}
}

// namesOf returns the names of mutants.
func namesOf(mutants []Mutant) (all []string) {
	for _, m := range mutants {
		all = append(all, m.Name)
	}
	return all
}

// Comments of the template have no mutants, even if they look like code.
func TestCommentsOfTemplatesHaveNoMutants(t *testing.T) {
	files := map[string]string{"x.tmpl": `{{/*
{{ if .Old }}
gzip on;
{{ end }}
*/}}
tcp_nodelay on; {{- /* a note of
two "lines */}}
tcp_nopush on;`}
	want := []string{"template/x.tmpl:8/delete", "template/x.tmpl:8/off"}
	if diff := cmp.Diff(want, namesOf(OfTemplate(files))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if sites := Sites(files); len(sites) != 1 || !sites["x.tmpl:8"] {
		t.Errorf("sites %v", sites)
	}
}

// The condition of an else is evaluated where its if begins, also after an if of several lines.
func TestElseBelongsToItsIf(t *testing.T) {
	files := map[string]string{"x.tmpl": `{{ if .Outer }}
{{ if and .A
  .B }}
gzip on;
{{ end }}
{{ else if .C }}
{{ end }}`}
	for _, m := range OfTemplate(files) {
		if m.Line == 6 && m.Site() != "x.tmpl:1" {
			t.Errorf("%s is reached in %s", m.Name, m.Site())
		}
	}
	if Sites(files)["x.tmpl:6"] {
		t.Error("the else has a mark, which the branch before it writes")
	}
}

// A comment behind a directive hides neither the directive nor the following lines.
func TestDirectivesWithComments(t *testing.T) {
	files := map[string]string{"x.tmpl": `gzip on; # as they say, 'always
map $a $b { # "quoted
	default '#'; # {
	"a # b" 2;
}
tcp_nodelay on;`}
	want := []string{
		"template/x.tmpl:1/delete", "template/x.tmpl:1/off", "template/x.tmpl:3/delete",
		"template/x.tmpl:4/delete", "template/x.tmpl:4/4", "template/x.tmpl:6/delete", "template/x.tmpl:6/off",
	}
	if diff := cmp.Diff(want, namesOf(OfTemplate(files))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each number of a directive has a mutant, even directly after another number.
func TestNumbersNextToEachOther(t *testing.T) {
	var got []string
	for _, m := range OfTemplate(map[string]string{"x.tmpl": "large_client_header_buffers 4 8k 2x;"}) {
		got = append(got, m.Now)
	}
	want := []string{"", "large_client_header_buffers 8 8k 2x;", "large_client_header_buffers 4 16k 2x;"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
