package kubeapi

import (
	"fmt"
	"net/url"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// maxSelector bounds a selector's text: every object is held against all of it.
const maxSelector = 64 << 10

// selector says which objects of a resource a list or watch is about. The
// namespace and name are those of the URL, empty for all.
type selector struct {
	namespace, name string
	labels          labels.Selector
	fields          fields.Selector
}

// parseSelector reads labelSelector and fieldSelector. Its errors are 400, as
// kube-apiserver words them.
func parseSelector(res *resource, namespace, name string, query url.Values) (selector, error) {
	sel := selector{namespace: namespace, name: name}
	for _, text := range []string{query.Get("labelSelector"), query.Get("fieldSelector")} {
		if len(text) > maxSelector {
			return sel, errors.NewBadRequest(fmt.Sprintf("a selector of %d bytes is too long: the limit is %d", len(text), maxSelector))
		}
	}
	var err error
	if sel.labels, err = labels.Parse(query.Get("labelSelector")); err != nil {
		return sel, errors.NewBadRequest(fmt.Sprintf("unable to parse requirement: %v", err))
	}
	if sel.fields, err = fields.ParseSelector(query.Get("fieldSelector")); err != nil {
		return sel, errors.NewBadRequest(err.Error())
	}
	known := res.selectable()
	for _, requirement := range sel.fields.Requirements() {
		if !known.Has(requirement.Field) {
			return sel, errors.NewBadRequest(fmt.Sprintf("field label not supported: %s", requirement.Field))
		}
	}
	return sel, nil
}

// selectable returns the names of the fields that selectors may use, as a set with empty values.
func (res *resource) selectable() fields.Set {
	known := fields.Set{"metadata.name": "", "metadata.namespace": ""}
	if base := res.base(); base.fields != nil {
		for name := range base.fields(base.empty()) {
			known[name] = ""
		}
	}
	return known
}

// narrow says whether labels or fields select, and not only the URL.
func (sel *selector) narrow() bool { return !sel.labels.Empty() || !sel.fields.Empty() }

func (sel *selector) matches(o *object) bool {
	return (sel.namespace == "" || sel.namespace == o.namespace) &&
		(sel.name == "" || sel.name == o.name) &&
		(sel.labels.Empty() || sel.labels.Matches(o.labels)) &&
		(sel.fields.Empty() || sel.fields.Matches(selectedFields{o}))
}

// filter returns the objects that match.
func (sel *selector) filter(objects []*object) []*object {
	if sel.namespace == "" && sel.name == "" && !sel.narrow() {
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
type selectedFields struct{ *object }

func (f selectedFields) Has(string) bool { return true } // parseSelector let only known fields pass

func (f selectedFields) Get(name string) string {
	switch name {
	case "metadata.name":
		return f.name
	case "metadata.namespace":
		return f.namespace
	}
	return f.fields[name]
}
