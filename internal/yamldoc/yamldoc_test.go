package yamldoc_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/internal/yamldoc"
)

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"one":                  {"a: 1\nb: 2\n", "1 {a: 1|b: 2|}"},
		"several":              {"a: 1\n---\nb: 2\n---\nc: 3\n", "1 {a: 1|} 3 {b: 2|} 5 {c: 3|}"},
		"comments before":      {"# x\n%YAML 1.1\n---\n\n # y\na: 1\n", "6 {a: 1|}"},
		"empty documents":      {"---\n---\n# x\n---\n\na: 1\n---\n", "6 {a: 1|}"},
		"behind the separator": {"--- {a: 1}\n--- # x\nb: 2\n---\tc: 3\n", "1 { {a: 1}|} 3 {b: 2|} 4 {\tc: 3|}"},
		"not a separator":      {"---a: 1\n----\n", "1 {---a: 1|----|}"},
		"Windows lines":        {"---\r\na: 1\r\n---\r\nb: 2", "2 {a: 1\r|} 4 {b: 2}"},
		"nothing":              {"", ""},
	} {
		var got []string
		for d := range yamldoc.Split([]byte(c.file)) {
			got = append(got, fmt.Sprintf("%d {%s}", d.Line, strings.ReplaceAll(string(d.Text), "\n", "|")))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// The work must grow with the size of the file, not with its square: no document is copied.
func TestSplitCopiesNothing(t *testing.T) {
	file := bytes.Repeat([]byte("a: 1\n---\n"), 1000)
	allocations := testing.AllocsPerRun(10, func() {
		for d := range yamldoc.Split(file) {
			if len(d.Text) == 0 {
				t.Fatal("a document without a text")
			}
		}
	})
	if allocations > 10 {
		t.Errorf("%.0f allocations for 1000 documents", allocations)
	}
}

func TestJSON(t *testing.T) {
	for file, want := range map[string]string{
		"a: 1\n---\nb: {c: [2]}\n":     `{"a":1} {"b":{"c":[2]}}`,
		"a: 1\n---\n\n# x\nb: 1\nb: 2": `{"a":1} f.yaml:6: not YAML: key "b" already set in map`,
		"---\na: 1\na: 1\nb: 1\nb: 1":  `f.yaml:3: not YAML: key "a" already set in map; line 5: key "b" already set in map`,
		"--- {a: 1\n":                  `f.yaml:1: not YAML: did not find expected ',' or '}'`,
		"a:\n\tb: 1\n":                 "f.yaml:2: not YAML: a tab in the indentation, or a text that begins with @, ` or %: indent with spaces, and quote such a text",
		"~\n":                          `null`,
	} {
		var got []string
		for d := range yamldoc.Split([]byte(file)) {
			data, err := d.JSON("f.yaml")
			if err != nil {
				data = []byte(err.Error())
			}
			got = append(got, string(data))
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: %s, want %s", file, text, want)
		}
	}
}

// Each line with content that is not a comment, a directive or a separator is in exactly one document,
// and documents have the lines on which they begin.
func FuzzSplit(f *testing.F) {
	f.Add([]byte("# a\n---\nb: 1\n--- {c: 2}\n---\n%d\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		lines := slices.Collect(bytes.Lines(file))
		var texts [][]byte
		for d := range yamldoc.Split(file) {
			first, _, _ := bytes.Cut(d.Text, []byte("\n"))
			if !bytes.Contains(lines[d.Line-1], first) {
				t.Errorf("line %d is %q, and its document begins with %q", d.Line, lines[d.Line-1], first)
			}
			texts = append(texts, d.Text)
		}
		all := bytes.Join(texts, nil)
		for _, line := range lines {
			if text := bytes.TrimSpace(line); len(text) > 0 && !bytes.ContainsRune([]byte("#%-"), rune(text[0])) && !bytes.Contains(all, line) {
				t.Errorf("no document has the line %q", line)
			}
		}
	})
}
