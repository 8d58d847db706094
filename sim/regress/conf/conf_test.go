package conf_test

import (
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/regress/conf"
)

func parse(t *testing.T, text string) []*conf.Directive {
	t.Helper()
	tree, err := conf.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return tree
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		`set $a b;`:                      {"set", "$a", "b"},
		`set $a "";`:                     {"set", "$a", ""},
		`set $a "b c;{}#";`:              {"set", "$a", "b c;{}#"},
		`set $a 'it\'s';`:                {"set", "$a", "it's"},
		`set $a "/a\\";`:                 {"set", "$a", `/a\`},
		`rewrite ^/a\;b\.c$ /d;`:         {"rewrite", `^/a\;b\.c$`, "/d"},
		`set $a ${b}c;`:                  {"set", "$a", "${b}c"},
		"set # comment ; {\n $a #b\n b;": {"set", "$a", "b"},
		`set $a b#c;`:                    {"set", "$a", "b#c"},
		`"~*^a b{2}" 1;`:                 {"~*^a b{2}", "1"},
	} {
		tree := parse(t, text)
		if got := append([]string{tree[0].Name}, tree[0].Args...); len(tree) != 1 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestBlocksAndLines(t *testing.T) {
	tree := parse(t, "http {\n  server {\n    listen 80\n      reuseport;\n  }\n\n  # none\n  map $a $b { default 1; }\n}\n")
	server, mapped := tree[0].Block[0], tree[0].Block[1]
	listen := server.Block[0]
	if server.Line != 2 || listen.Line != 3 || listen.Last != 4 || mapped.Line != 8 || mapped.Block[0].Name != "default" {
		t.Errorf("server %d, listen %d to %d, map %d", server.Line, listen.Line, listen.Last, mapped.Line)
	}
}

func TestLua(t *testing.T) {
	tree := parse(t, "a_by_lua_block {\n local t = {1, {2}} -- }\n local n = #t .. \"}\" .. [[ } ]]\n --[==[ } ]==]\n}\nset $x 1;\n")
	if len(tree) != 2 || tree[1].Line != 6 || !strings.Contains(tree[0].Lua, "#t") {
		t.Errorf("%+v", tree)
	}
}

func TestBadConfigurations(t *testing.T) {
	for text, want := range map[string]string{
		"a {\n b;\n":             "line 1: this block does not end",
		"a;\n}":                  "line 2: a closing brace without a block",
		"a\nb":                   "line 1: a directive does not end",
		"a;\n;":                  "line 2: a semicolon without a directive",
		"a {\nb }":               "line 2: a block ends in a directive",
		"\na \"b;":               "line 2: a quoted word does not end",
		"a_by_lua_block {\n '}'": "line 1: this block of Lua does not end",
	} {
		if _, err := conf.Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// list returns the differences as text.
func list(t *testing.T, base, head string) []string {
	t.Helper()
	all := []string{}
	for _, d := range conf.Compare(parse(t, base), parse(t, head)) {
		place := ""
		if d.Place() != "" {
			place = d.Place() + ": "
		}
		all = append(all, place+string(d.Change)+" "+d.Any().String())
	}
	return all
}

func TestSame(t *testing.T) {
	for what, pair := range map[string][2]string{
		"comments and spaces":     {"a b; # c\n", "\n  a\t'b'\n;"},
		"different directives":    {"a 1; b 2;", "b 2; a 1;"},
		"prefix locations":        {"location /a { c; } location = /b { d; }", "location = /b { d; } location /a { c; }"},
		"keys of a map":           {"map $a $b { default 0; x 1; y 2; }", "map $a $b { y 2; x 1; default 0; }"},
		"a key and a pattern":     {"map $a $b { x 1; ~y 2; }", "map $a $b { ~y 2; x 1; }"},
		"named servers":           {"server { listen 80 default_server; } server { listen 80; server_name a; } server { listen 80; server_name b; }", "server { listen 80; server_name b; } server { listen 80 default_server; } server { listen 80; server_name a; }"},
		"upstreams":               {"upstream a { server x; } upstream b { server y; }", "upstream b { server y; } upstream a { server x; }"},
		"phases":                  {"set $a 1; allow all; add_header A 1;", "add_header A 1; allow all; set $a 1;"},
		"comments in Lua":         {"a_by_lua_block { local b = 1\n-- old\n }", "a_by_lua_block {\n\tlocal b = 1\n -- new\n }"},
		"hidden headers":          {"proxy_hide_header A; proxy_hide_header B;", "proxy_hide_header B; proxy_hide_header A;"},
		"servers of other blocks": {"upstream a { server x; }", "upstream a { server  x; }"},
	} {
		if got := list(t, pair[0], pair[1]); len(got) > 0 {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestDifferent(t *testing.T) {
	for what, test := range map[string]struct {
		base, head string
		want       []string
	}{
		"a value":             {"proxy_buffering on;", "proxy_buffering off;", []string{"change proxy_buffering off"}},
		"a new directive":     {"a 1;", "a 1; b 2;", []string{"gain b 2"}},
		"a missing directive": {"server { server_name x; a 1; }", "server { server_name x; }", []string{"server: lose a 1"}},
		"a second one":        {"include a;", "include a; include b;", []string{"gain include b"}},
		"a block":             {"", "location /a { b; }", []string{"gain location /a {…}"}},
		"the kind of block":   {"location /a { b; c; d; }", "location = /a { b; c; d; }", []string{"change location = /a {…}"}},
		"within a new block":  {"location /a { b 1; c; d; e; }", "location = /a { b 2; c; d; e; }", []string{"change location = /a {…}", "location: change b 2"}},
		"patterns":            {"location ~ /a { b; } location ~ /ab { c; }", "location ~ /ab { c; } location ~ /a { b; }", []string{"move location ~ /ab {…}"}},
		"patterns of a map":   {"map $a $b { ~x 1; ~xy 2; }", "map $a $b { ~xy 2; ~x 1; }", []string{"map: move ~xy 2"}},
		"rewrites":            {"set $a 1; if ($a) { return 1; }", "if ($a) { return 1; } set $a 1;", []string{"move if ($a) {…}"}},
		"access":              {"allow all; deny all;", "deny all; allow all;", []string{"move deny all"}},
		"headers":             {"add_header A 1; add_header B 2;", "add_header B 2; add_header A 1;", []string{"move add_header B 2"}},
		"peers":               {"upstream a { server x; server y; }", "upstream a { server y; server x; }", []string{"upstream: move server y"}},
		"the first server":    {"server { server_name a; } server { server_name b; }", "server { server_name b; } server { server_name a; }", []string{"move server {…}"}},
		"patterns of servers": {"server { listen 1 default_server; server_name d; } server { listen 1; server_name ~a; } server { listen 1; server_name ~b; }", "server { listen 1 default_server; server_name d; } server { listen 1; server_name ~b; } server { listen 1; server_name ~a; }", []string{"move server {…}"}},
		"Lua":                 {"a_by_lua_block { b() }", "a_by_lua_block { c() }", []string{"change a_by_lua_block {…}"}},
		"a renamed server":    {"server { server_name a; b; c; d; }", "server { server_name e; b; c; d; }", []string{"server: change server_name e"}},
		"a header's value":    {"proxy_set_header A 1; proxy_set_header B 2;", "proxy_set_header A 1; proxy_set_header B 3;", []string{"change proxy_set_header B 3"}},
	} {
		got := list(t, test.base, test.head)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", what, got, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("http { server { listen 80; } }")
	f.Add("a_by_lua_block { [[ } ]] }")
	f.Add("set $a \"b\\\\\";")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := conf.Parse(text)
		if err == nil && len(conf.Compare(tree, tree)) > 0 {
			t.Errorf("%q differs from itself", text)
		}
	})
}

// The first server of an address is its default; a server of another address can stand anywhere.
func TestOrderOfServersWithoutDefault(t *testing.T) {
	for name, test := range map[string]struct {
		base, head string
		want       int
	}{
		"other addresses": {"stream { server { listen 1; } server { listen 2; } }", "stream { server { listen 2; } server { listen 1; } }", 0},
		"same address":    {"http { server { listen 1; server_name a; } server { listen 1; server_name b; } }", "http { server { listen 1; server_name b; } server { listen 1; server_name a; } }", 1},
		"a marked default of another address": {
			"http { server { listen 2 default_server; server_name c; } server { listen 1; server_name a; } server { listen 1; server_name b; } }",
			"http { server { listen 2 default_server; server_name c; } server { listen 1; server_name b; } server { listen 1; server_name a; } }", 1,
		},
	} {
		base, err := conf.Parse(test.base)
		if err != nil {
			t.Fatal(err)
		}
		head, err := conf.Parse(test.head)
		if err != nil {
			t.Fatal(err)
		}
		if found := conf.Compare(base, head); len(found) != test.want {
			t.Errorf("%s: %d differences, want %d", name, len(found), test.want)
		}
	}
}
