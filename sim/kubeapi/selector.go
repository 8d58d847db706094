package kubeapi

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// maxSelector bounds a selector's text: every object is held against all of it.
const maxSelector = 64 << 10

// selector says which objects of a resource a list or watch is about. The
// namespace is that of the URL, empty for all.
type selector struct {
	namespace string
	labels    labels.Selector
	fields    fields.Selector
	paths     map[string][]string // of a custom resource's own fields
}

// narrow says whether labels or fields select, and not only the URL.
func (sel *selector) narrow() bool { return !sel.labels.Empty() || !sel.fields.Empty() }

func (sel *selector) matches(o *object) bool {
	return (sel.namespace == "" || sel.namespace == o.namespace) &&
		(sel.labels.Empty() || sel.labels.Matches(o.labels)) &&
		(sel.fields.Empty() || sel.fields.Matches(selectedFields{o, sel.paths}))
}

// filter returns the objects that match.
func (sel *selector) filter(objects []*object) []*object {
	if sel.namespace == "" && !sel.narrow() {
		return objects
	}
	var matching []*object
	for _, o := range objects {
		if sel.matches(o) {
			matching = append(matching, o)
		}
	}
	return matching
}

// selectedFields is an object as field selectors see it.
type selectedFields struct {
	*object
	paths map[string][]string
}

func (f selectedFields) Has(string) bool { return true } // readQuery let only known fields pass

func (f selectedFields) Get(name string) string {
	switch name {
	case "metadata.name":
		return f.name
	case "metadata.namespace":
		return f.namespace
	}
	if path, custom := f.paths[name]; custom {
		return f.selected(path)
	}
	return f.fields[name]
}
