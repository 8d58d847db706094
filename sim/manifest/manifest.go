// Package manifest reads Kubernetes objects from files, as kubectl apply -f does: YAML or JSON,
// several documents per file, lists, whole folders. Its one rule: every error has the file and the
// line where the object begins.
package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/internal/yamldoc"
)

// Largest is the maximum size of a manifest file, in bytes, because parsing YAML needs many times
// that in memory. Larger dumps can be split into several files.
const Largest = 64 << 20

// Read reads a file with manifests, as text.
func Read(path string) ([]byte, error) {
	text, err := readfile.Read(path, Largest)
	return text, advise(err)
}

// ReadAll reads a stream with manifests, as text.
func ReadAll(r io.Reader) ([]byte, error) {
	text, err := readfile.All(r, Largest)
	return text, advise(err)
}

// advise says how to mend manifests that are too large.
func advise(err error) error {
	if errors.Is(err, readfile.ErrTooLarge) {
		return fmt.Errorf("%w; leave out Secrets that no ingress uses, such as those of Helm, or split it into several files", err)
	}
	return err
}

// Manifest is an object, and the place where it was read.
type Manifest struct {
	File   string
	Line   int // from 1
	Object *unstructured.Unstructured
}

// At prefixes an error with the file and line.
func (m Manifest) At(err error) error { return fmt.Errorf("%s:%d: %w", m.File, m.Line, err) }

// extensions are the extensions of the files that are read from folders.
var extensions = []string{".yaml", ".yml", ".json"}

// Load reads files and folders. It reads folders recursively, in the order of names. Its error
// joins all problems, not only the first.
func Load(paths ...string) ([]Manifest, error) {
	var all []Manifest
	var errs []error
	for _, path := range paths {
		files, err := Files(path)
		errs = append(errs, err)
		for _, file := range files {
			data, err := Read(file)
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

// Files returns the file itself, or the manifest files of a folder and its subfolders, in the order
// of names. It leaves out JSON files that Windtunnel writes, such as the index of a corpus. A folder
// without manifest files is an error.
func Files(path string) ([]string, error) {
	files, err := readfile.Files(path, extensions...)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	if len(files) == 1 && files[0] == path {
		return files, nil
	}
	if files = slices.DeleteFunc(files, isOurs); len(files) == 0 {
		return nil, fmt.Errorf("%s: no %s file in this folder", path, strings.Join(extensions, ", "))
	}
	return files, nil
}

// isOurs reports whether Windtunnel wrote a file of a folder: a JSON file that begins with its schema. It
// reads no more than the beginning.
func isOurs(file string) bool {
	if filepath.Ext(file) != ".json" {
		return false
	}
	opened, err := readfile.Open(file)
	if err != nil {
		return false // Load reports it
	}
	defer opened.Close()
	var begins [3]json.Token
	decoder := json.NewDecoder(opened)
	for i := range begins {
		begins[i], _ = decoder.Token() // a file that is not JSON has no schema
	}
	schema, _ := begins[2].(string)
	return begins[0] == json.Delim('{') && begins[1] == "schema" && strings.HasPrefix(schema, "windtunnel.dev/")
}

// Parse reads the objects of one file's data. It skips empty documents.
func Parse(file string, data []byte) ([]Manifest, error) {
	var all []Manifest
	var errs []error
	for d := range yamldoc.Split(data) {
		found, err := objects(file, d)
		all, errs = append(all, found...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

func objects(file string, d yamldoc.Document) ([]Manifest, error) {
	at := Manifest{File: file, Line: d.Line}
	data, err := d.JSON(file)
	if err != nil {
		return nil, err
	}
	if yamldoc.Empty(data) {
		return nil, nil
	}
	if !yamldoc.IsMapping(data) {
		return nil, at.At(yamldoc.ErrNoMapping)
	}
	object := &unstructured.Unstructured{}
	switch err := object.UnmarshalJSON(data); {
	case runtime.IsMissingKind(err):
		return nil, at.At(yamldoc.ErrNoKind)
	case err != nil:
		return nil, at.At(fmt.Errorf("not a Kubernetes object: %w", err))
	}
	list, has := object.Object["items"]
	if !has || !strings.HasSuffix(object.GetKind(), "List") {
		at.Object = object
		if err := check(object); err != nil {
			return nil, at.At(err)
		}
		return []Manifest{at}, nil
	}
	items, isList := list.([]any)
	if !isList && list != nil {
		return nil, at.At(yamldoc.ErrNoList)
	}
	return itemsOf(object, items, at)
}

// itemsOf returns the items of a list that begins at a place of a file.
func itemsOf(list *unstructured.Unstructured, items []any, at Manifest) (all []Manifest, err error) {
	for i, item := range items {
		content, isMapping := item.(map[string]any)
		if !isMapping {
			return all, at.At(fmt.Errorf("item %d: %w", i+1, yamldoc.ErrNoMapping))
		}
		m := Manifest{File: at.File, Line: at.Line, Object: &unstructured.Unstructured{Object: content}}
		OfList(list, m.Object)
		if err := check(m.Object); err != nil {
			return all, at.At(fmt.Errorf("item %d: %w", i+1, err))
		}
		all = append(all, m)
	}
	return all, nil
}

// OfList sets the kind of a list item that has none. The items of kind List have their own kinds,
// but those of a typed list that an API server returned, such as IngressList, do not.
func OfList(list, item *unstructured.Unstructured) {
	if kind := strings.TrimSuffix(list.GetKind(), "List"); kind != "" && item.GetKind() == "" {
		item.SetKind(kind)
		item.SetAPIVersion(list.GetAPIVersion())
	}
}

func check(object *unstructured.Unstructured) error {
	if object.GetAPIVersion() == "" {
		return yamldoc.ErrNoVersion
	}
	if object.GetAPIVersion() == "windtunnel.dev/v1" {
		return fmt.Errorf("a %s of windtunnel is not an object of a cluster: name a file with manifests", object.GetKind())
	}
	if object.GetName() == "" && object.GetGenerateName() == "" {
		return fmt.Errorf("a %s without metadata.name", object.GetKind())
	}
	return nil
}
