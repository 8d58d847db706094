package render

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
)

//go:embed templates/*.tmpl
var files embed.FS

// mainFile is the template that is executed; it includes the others.
const mainFile = "nginx.tmpl"

// ours is composed of one file for each block of nginx.conf.
var ours = func() *Template {
	parsed, err := ParseFolder("", Files())
	if err != nil {
		panic(err)
	}
	return parsed
}()

// Files returns our template files by name.
func Files() map[string]string {
	texts := make(map[string]string)
	names, err := fs.Glob(files, "templates/*.tmpl")
	for _, name := range names {
		var text []byte
		if text, err = files.ReadFile(name); err == nil {
			texts[path.Base(name)] = string(text)
		}
	}
	if err != nil {
		panic(err) // they are embedded
	}
	return texts
}

// Template is a template of nginx.conf.
type Template struct {
	parsed *template.Template
	folder string // of the files, for errors; "" for a single file
	files  []file
}

// file is one of a template, by its name as errors have it.
type file struct{ name, text string }

// Parse reads a user's template from its text. The file is its name in errors,
// which read "file:line: what".
func Parse(name string, text []byte) (*Template, error) {
	parsed, err := template.New(name).Funcs(functions).Parse(string(text))
	if err != nil {
		return nil, readable(err)
	}
	return &Template{parsed: parsed, files: []file{{name, string(text)}}}, nil
}

// ParseFolder parses a template of several files, given by their names in a folder.
// nginx.tmpl is executed and includes the others by name.
func ParseFolder(folder string, texts map[string]string) (*Template, error) {
	t := &Template{parsed: template.New(mainFile).Funcs(functions), folder: folder}
	if _, ok := texts[mainFile]; !ok {
		return nil, fmt.Errorf("%s: no %s in this folder", folder, mainFile)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if _, err := t.parsed.New(name).Parse(texts[name]); err != nil {
			return nil, t.readable(err)
		}
		t.files = append(t.files, file{path.Join(folder, name), texts[name]})
	}
	t.parsed = t.parsed.Lookup(mainFile)
	return t, nil
}

// Text is what the template was read from.
func (t *Template) Text() string {
	var text strings.Builder
	for _, f := range t.files {
		fmt.Fprintf(&text, "%s\n%s\n", f.name, f.text)
	}
	return text.String()
}

// Place returns the line of the template, as "file:line", that writes a line of
// nginx.conf: the equal line, or the most similar one with the same directive. If
// there is none, as for a line of a snippet, it returns only the file or folder.
func (t *Template) Place(line string) string {
	line = strings.TrimSpace(line)
	word, _ := directive(line)
	place, best := "", -1
	for _, f := range t.files {
		number := 0
		for written := range strings.Lines(f.text) {
			number++
			if likeness := alike(strings.TrimSpace(written), line, word); likeness > best {
				place, best = fmt.Sprintf("%s:%d", f.name, number), likeness
			}
		}
	}
	switch {
	case place != "":
		return place
	case t.folder != "":
		return t.folder
	}
	return t.files[0].name
}

// alike returns how many bytes of a line a template line writes literally, before its
// first action; -1 if it does not write the line's directive.
func alike(written, line, word string) int {
	first, _ := directive(written)
	fixed, _, hasAction := strings.Cut(written, "{{")
	switch {
	case first != word || word == "":
		return -1
	case written == line:
		return len(line) + 1
	case hasAction && strings.HasPrefix(line, strings.TrimRight(fixed, " ")):
		return len(fixed)
	}
	return 0
}

func (t *Template) execute(data *root) ([]byte, error) {
	var text bytes.Buffer
	if err := t.parsed.Execute(&text, data); err != nil {
		return nil, t.readable(err)
	}
	return text.Bytes(), nil
}

// readable is readable with the folder of the file.
func (t *Template) readable(err error) error {
	err = readable(err)
	if t.folder != "" {
		err = fmt.Errorf("%s/%w", strings.TrimSuffix(t.folder, "/"), err)
	}
	return err
}

// readable leaves file, line and what is wrong of an error of text/template.
func readable(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "template: "))
}
