// Package manifest reads Kubernetes objects from files, as kubectl apply -f does:
// YAML or JSON, several documents a file, lists, whole folders. It stands between
// a user's files and whoever writes objects to a server. Its one rule: whatever is
// wrong is told with the file and the line where the object begins.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/internal/readfile"
)

// Largest is how many bytes a file of manifests may have: YAML takes many times its
// size in memory. Larger dumps can be several files.
const Largest = 64 << 20

// Manifest is an object and where it was read.
type Manifest struct {
	File   string
	Line   int // from 1
	Object *unstructured.Unstructured
}

// At puts the place in front of an error.
func (m Manifest) At(err error) error { return fmt.Errorf("%s:%d: %w", m.File, m.Line, err) }

// extensions are those of the files that are read of a folder.
var extensions = []string{".yaml", ".yml", ".json"}

// Load reads files and folders, these with all below them in the order of names.
// It reports everything that is wrong, not only the first.
func Load(paths ...string) ([]Manifest, error) {
	var all []Manifest
	var errs []error
	for _, path := range paths {
		files, err := Files(path)
		errs = append(errs, err)
		for _, file := range files {
			data, err := readfile.Read(file, Largest)
			if err != nil {
				errs = append(errs, fmt.Errorf("reading manifests: %w", err))
				continue
			}
			found, err := Parse(file, data)
			all, errs = append(all, found...), append(errs, err)
		}
	}
	return all, errors.Join(errs...)
}

// Files are the file itself, or those of a folder that hold manifests, with all
// below it in the order of names. A folder without any is an error.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains(extensions, filepath.Ext(file)) {
			files = append(files, file)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no %s file in this folder", path, strings.Join(extensions, ", "))
	}
	return files, err
}

// Parse reads the objects of one file's data. Empty documents are none.
func Parse(file string, data []byte) ([]Manifest, error) {
	var all []Manifest
	var errs []error
	for _, d := range split(data) {
		found, err := d.objects(file)
		all, errs = append(all, found...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

// document is a part of a file, and the line on which it begins.
type document struct {
	line int
	text []byte
}

// split cuts a file at its --- lines. A document begins where something is said.
func split(data []byte) []document {
	var all []document
	var current document
	end := func() {
		if current.line > 0 {
			all = append(all, current)
		}
		current = document{}
	}
	for i, line := range bytes.SplitAfter(data, []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte("---")); ok && (len(bytes.TrimSpace(rest)) == 0 || rest[0] == ' ') {
			end()
			line = rest // "--- {kind: …}" is a document, too
		}
		text := bytes.TrimSpace(line)
		if current.line == 0 && (len(text) == 0 || text[0] == '#' || text[0] == '%') {
			continue
		}
		if current.line == 0 {
			current.line = i + 1
		}
		current.text = append(current.text, line...)
	}
	end()
	return all
}

// yamlLine is how the YAML reader names a line of what it was given.
var yamlLine = regexp.MustCompile(`\bline (\d+)(: )?`)

func (d document) objects(file string) ([]Manifest, error) {
	at := Manifest{File: file, Line: d.line}
	data, err := yaml.YAMLToJSONStrict(d.text)
	if err != nil {
		return nil, d.explain(at, err)
	}
	if bytes.Equal(data, []byte("null")) {
		return nil, nil
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		return nil, at.At(fmt.Errorf("not a Kubernetes object: %w", err))
	}
	if !object.IsList() {
		at.Object = object
		return []Manifest{at}, at.check()
	}
	var all []Manifest
	err = object.EachListItem(func(item runtime.Object) error {
		m := Manifest{File: file, Line: d.line, Object: item.(*unstructured.Unstructured)}
		OfList(object, m.Object)
		all = append(all, m)
		return m.check()
	})
	return all, err
}

// OfList gives an item of a list the kind that it does not say itself: a List of all
// kinds has items that do, an IngressList as an API server answers has not.
func OfList(list, item *unstructured.Unstructured) {
	if kind := strings.TrimSuffix(list.GetKind(), "List"); kind != "" && item.GetKind() == "" {
		item.SetKind(kind)
		item.SetAPIVersion(list.GetAPIVersion())
	}
}

// explain turns a line of the document into one of the file.
func (d document) explain(at Manifest, err error) error {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	if found := yamlLine.FindStringSubmatch(text); found != nil {
		n, _ := strconv.Atoi(found[1]) // digits, by the expression
		at.Line = d.line + n - 1
		text = strings.Replace(text, found[0], "", 1)
	}
	return at.At(errors.New("not YAML: " + strings.Join(strings.Fields(text), " ")))
}

func (m Manifest) check() error {
	if m.Object.GetAPIVersion() == "" {
		return m.At(errors.New("an object without apiVersion"))
	}
	if m.Object.GetName() == "" && m.Object.GetGenerateName() == "" {
		return m.At(fmt.Errorf("a %s without metadata.name", m.Object.GetKind()))
	}
	return nil
}
