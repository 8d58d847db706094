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

// mainFile is the main template, which includes the others.
const mainFile = "nginx.tmpl"

// ours consists of one file per block of nginx.conf.
var ours = func() *Template {
	parsed, err := ParseFolder("", Files())
	if err != nil {
		panic(err)
	}
	return parsed
}()

// FS returns the files of our template.
func FS() fs.FS {
	templates, err := fs.Sub(files, "templates")
	if err != nil {
		panic(err) // cannot happen: the folder is embedded
	}
	return templates
}

// Files returns the texts of our template by file name.
func Files() map[string]string {
	texts := make(map[string]string)
	templates := FS()
	names, err := fs.Glob(templates, "*")
	for _, name := range names {
		var text []byte
		if text, err = fs.ReadFile(templates, name); err == nil {
			texts[name] = string(text)
		}
	}
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	return texts
}

// Template is a template of nginx.conf.
type Template struct {
	parsed *template.Template
	folder string // folder of the files, for errors; "" for a single file
	files  []file
}

// file is a file of a template. Errors contain its name.
type file struct{ name, text string }

// Parse parses a user's template. Errors have the form "file:line: message", where file is name.
func Parse(name string, text []byte) (*Template, error) {
	parsed, err := template.New(name).Funcs(functions).Parse(string(text))
	if err != nil {
		return nil, readable(err)
	}
	return &Template{parsed: parsed, files: []file{{name, string(text)}}}, nil
}

// ParseFolder parses a template that consists of several files in a folder. texts maps file names
// to contents. nginx.tmpl is executed and includes the others by name.
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

// Text returns the source of the template: each file's name and content.
func (t *Template) Text() string {
	var text strings.Builder
	for _, f := range t.files {
		fmt.Fprintf(&text, "%s\n%s\n", f.name, f.text)
	}
	return text.String()
}

// Position returns the template line, as "file:line", that writes the given line of nginx.conf: an
// equal line, or the most similar one with the same directive. If there is none, as for a line of a
// snippet, it returns only the file or folder.
func (t *Template) Position(line string) string {
	line = strings.TrimSpace(line)
	word, _ := directive(line)
	position, best := "", -1
	for _, f := range t.files {
		number := 0
		for written := range strings.Lines(f.text) {
			number++
			if likeness := similarity(strings.TrimSpace(written), line, word); likeness > best {
				position, best = fmt.Sprintf("%s:%d", f.name, number), likeness
			}
		}
	}
	switch {
	case position != "":
		return position
	case t.folder != "":
		return t.folder
	}
	return t.files[0].name
}

// similarity returns the length of the literal text, before a template line's first action, that
// matches a line of nginx.conf. It returns -1 if the directives differ.
func similarity(written, line, word string) int {
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
	if len(bytes.TrimSpace(text.Bytes())) == 0 {
		return nil, t.readable(fmt.Errorf("%s: the template renders nothing: it must write the whole nginx.conf", t.parsed.Name()))
	}
	return text.Bytes(), nil
}

// readable returns a readable error that includes the folder of the file.
func (t *Template) readable(err error) error {
	err = readable(err)
	if t.folder != "" {
		err = fmt.Errorf("%s/%w", strings.TrimSuffix(t.folder, "/"), err)
	}
	return err
}

// readable returns an error of text/template as "file:line: message".
func readable(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "template: "))
}

// Sources returns the texts of the template's files by name, without their folder.
func (t *Template) Sources() map[string]string {
	texts := make(map[string]string)
	for _, f := range t.files {
		texts[path.Base(f.name)] = f.text
	}
	return texts
}
