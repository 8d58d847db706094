package store

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
)

// MaxSelector bounds the text of a selector in bytes, because every object is compared with all of
// it.
const MaxSelector = 64 << 10

// Selector selects the objects of a list or watch. The namespace is that of the URL; empty selects
// all.
type Selector struct {
	Namespace string
	Labels    labels.Selector
	Fields    fields.Selector
	Paths     map[string][]string // of a custom resource's own fields
}

// Narrow reports whether there is a label or field selector.
func (sel *Selector) Narrow() bool { return !sel.Labels.Empty() || !sel.Fields.Empty() }

// Matches reports whether the selector selects o.
func (sel *Selector) Matches(o *Object) bool {
	return (sel.Namespace == "" || sel.Namespace == o.Namespace) &&
		(sel.Labels.Empty() || sel.Labels.Matches(o.Labels)) &&
		(sel.Fields.Empty() || sel.Fields.Matches(selectedFields{o, sel.Paths}))
}

// Filter returns the objects that match.
func (sel *Selector) Filter(objects []*Object) []*Object {
	if sel.Namespace == "" && !sel.Narrow() {
		return objects
	}
	var matching []*Object
	for _, o := range objects {
		if sel.Matches(o) {
			matching = append(matching, o)
		}
	}
	return matching
}

// selectedFields is an object as field selectors see it.
type selectedFields struct {
	*Object
	paths map[string][]string
}

func (f selectedFields) Has(string) bool { return true } // the query had only known fields

func (f selectedFields) Get(name string) string {
	switch name {
	case "metadata.name":
		return f.Name
	case "metadata.namespace":
		return f.Namespace
	}
	if path, custom := f.paths[name]; custom {
		return f.selected(path)
	}
	return f.Fields[name]
}

// Event returns e as a watcher with this selector sees it, without an object if the watcher does
// not see it. A watcher sees an object that no longer matches as DELETED: in its last matching
// state, at the new version.
func (sel *Selector) Event(e *Event) (watch.EventType, *Object, error) {
	is := e.Kind != watch.Deleted && sel.Matches(e.Object)
	was := e.prev != nil && sel.Matches(e.prev)
	switch {
	case is && was:
		return watch.Modified, e.Object, nil
	case is:
		return watch.Added, e.Object, nil
	case was && e.Kind == watch.Deleted && sel.Matches(e.Object):
		return watch.Deleted, e.Object, nil
	case was:
		last, err := e.prev.at(e.Version)
		return watch.Deleted, last, err
	}
	return "", nil, nil
}
