package mutate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReasonsOf(t *testing.T) {
	setting := func(kind Kind, name string) Mutant {
		return Mutant{Name: string(kind) + "/" + name + "/ignore", Kind: kind, Was: name}
	}
	mutants := []Mutant{
		lineMutant(Template, "a.tmpl", 1, "delete", "\tlisten 80;", ""),
		lineMutant(Template, "b.tmpl", 1, "delete", "listen 80;", ""),
		lineMutant(Lua, "sub/a.lua", 7, "never", "  if a:b() then", "  if false then"),
		lineMutant(Lua, "sub/a.lua", 8, "delete", "  a:c()", ""),
		lineMutant(Lua, "b.lua", 1, "never", "if a then", "if false then"),
		lineMutant(Lua, "b.lua", 1, "always", "if a then", "if true then"),
		setting(Config, "jaeger-endpoint"), setting(Config, "jaeger-service-name"), setting(Config, "use-gzip"),
		setting(Annotation, "use-gzip"), setting(Flag, "v"),
	}
	reasons, err := ParseReasons("reasons.tsv", `
a.tmpl:listen 80;	a default
sub/a.lua:*	a library
sub/a.lua:if a:b() then	a method
b.lua:if a then	always	it always holds
config/jaeger-*	removed
config/jaeger-endpoint	moved
flag/v	logs
b.lua:if a then	delete	it cannot be deleted
flag/w	it is gone
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"template/a.tmpl:1/delete": "a default", "lua/sub/a.lua:7/never": "a method", "lua/sub/a.lua:8/delete": "a library", "lua/b.lua:1/always": "it always holds",
		"config/jaeger-endpoint/ignore": "moved", "config/jaeger-service-name/ignore": "removed", "flag/v/ignore": "logs",
	}
	if diff := cmp.Diff(want, ReasonsOf(mutants, reasons)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stale := []Reason{{Line: 9, File: "b.lua", Was: "if a then", Change: "delete", Text: "it cannot be deleted"}, {Line: 10, Was: "flag/w", Text: "it is gone"}}
	if diff := cmp.Diff(stale, Stale(mutants, reasons)); diff != "" {
		t.Errorf("stale (-want +got):\n%s", diff)
	}
}

func TestBadReasonsNameTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"a.tmpl:x;\twhy\nb.tmpl:y; no tab": "r.tsv:2: want what the reason is about, a tab and the reason",
		"config/x\t":                       "r.tsv:1: want what",
		"settings/x\twhy":                  "r.tsv:1: settings/x is neither FILE:LINE",
		"a.tmpl:x;\t\twhy":                 "r.tsv:1: want at most FILE:LINE",
		"a.tmpl:x;\tdelete\tall\twhy":      "r.tsv:1: want at most FILE:LINE",
		"config/x\tignore\twhy":            "r.tsv:1: want at most FILE:LINE",
		"config/[x\twhy":                   "r.tsv:1: config/[x: syntax error in pattern",
	} {
		if _, err := ParseReasons("r.tsv", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
