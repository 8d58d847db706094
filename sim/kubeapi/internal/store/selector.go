package store

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
)

// MaxSelector bounds a selector's text: every object is held against all of it.
const MaxSelector = 64 << 10

// Selector says which objects of a resource a list or watch is about. The
// namespace is that of the URL, empty for all.
type Selector struct {
	Namespace string
	Labels    labels.Selector
	Fields    fields.Selector
	Paths     map[string][]string // of a custom resource's own fields
}

// Narrow says whether labels or fields select, and not only the URL.
func (sel *Selector) Narrow() bool { return !sel.Labels.Empty() || !sel.Fields.Empty() }

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

func (f selectedFields) Has(string) bool { return true } // readQuery let only known fields pass

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

// Event is an event as a watcher with this selector sees it, with no object when
// it does not. An object that ceases to match is DELETED for it: in its last
// matching state, under the new version.
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
