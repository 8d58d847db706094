package render

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"strings"
	"text/template"
)

//go:embed templates/*.tmpl
var files embed.FS

// ours is composed of one file for each block of nginx.conf.
var ours = &Template{template.Must(template.New("nginx.tmpl").Funcs(functions).ParseFS(files, "templates/*.tmpl")), ""}

// Template is a template of nginx.conf.
type Template struct {
	parsed *template.Template
	text   string
}

// Parse reads a user's template from its text. The file is its name in errors,
// which read "file:line: what".
func Parse(file string, text []byte) (*Template, error) {
	parsed, err := template.New(file).Funcs(functions).Parse(string(text))
	if err != nil {
		return nil, readable(err)
	}
	return &Template{parsed, string(text)}, nil
}

// Text is what the template was read from.
func (t *Template) Text() string { return t.text }

// Place is where the template writes a directive, as "file:line"; the file
// alone where it is not to be found, as when a snippet writes it.
func (t *Template) Place(name string) string {
	number := 0
	for line := range strings.Lines(t.text) {
		number++
		if word, _ := directive(line); word == name {
			return fmt.Sprintf("%s:%d", t.parsed.Name(), number)
		}
	}
	return t.parsed.Name()
}

func (t *Template) execute(data *root) ([]byte, error) {
	var text bytes.Buffer
	if err := t.parsed.Execute(&text, data); err != nil {
		return nil, readable(err)
	}
	return text.Bytes(), nil
}

// readable leaves file, line and what is wrong of an error of text/template.
func readable(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "template: "))
}
