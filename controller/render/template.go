package render

import (
	"bytes"
	"embed"
	"errors"
	"strings"
	"text/template"
)

//go:embed templates/*.tmpl
var files embed.FS

// ours is composed of one file for each block of nginx.conf.
var ours = &Template{template.Must(template.New("nginx.tmpl").Funcs(functions).ParseFS(files, "templates/*.tmpl"))}

// Template is a template of nginx.conf.
type Template struct {
	parsed *template.Template
}

// Parse reads a user's template from its text. The file is its name in errors,
// which read "file:line: what".
func Parse(file string, text []byte) (*Template, error) {
	parsed, err := template.New(file).Funcs(functions).Parse(string(text))
	if err != nil {
		return nil, readable(err)
	}
	return &Template{parsed}, nil
}

func (t *Template) execute(data root) ([]byte, error) {
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
