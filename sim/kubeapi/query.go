package kubeapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// readQuery parses the options of a list, a watch or the deletion of a collection. Like
// kube-apiserver it validates the options by themselves before it checks the fields of the
// resource.
func readQuery(r *request) (*internalversion.ListOptions, store.Selector, error) {
	opts := &internalversion.ListOptions{}
	sel := store.Selector{Namespace: r.Namespace, Labels: labels.Everything(), Fields: fields.Everything()}
	if err := checkSelectorSize(r.query); err != nil {
		return nil, sel, err
	}
	if err := internalscheme.ParameterCodec.DecodeParameters(r.query, metav1.SchemeGroupVersion, opts); err != nil {
		return nil, sel, errors.NewBadRequest(err.Error())
	}
	internalversion.SetListOptionsDefaults(opts, true)
	if err := invalidOptions("ListOptions", validation.ValidateListOptions(opts, true)); err != nil {
		return nil, sel, err
	}
	if opts.LabelSelector != nil {
		sel.Labels = opts.LabelSelector
	}
	if opts.FieldSelector != nil {
		sel.Fields = opts.FieldSelector
	}
	if r.Resource.Custom != nil {
		sel.Paths = r.Resource.Custom.Selectable
	}
	if err := checkFields(r.Resource, sel.Fields); err != nil {
		return nil, sel, err
	}
	var err error
	sel.Fields, err = storedFields(r.Resource, sel.Fields)
	return opts, sel, err
}

// storedFields returns a selector with the names that its fields have in the stored kind.
func storedFields(res *resource.Resource, asked fields.Selector) (fields.Selector, error) {
	if res.View == nil || res.View.Fields == nil {
		return asked, nil
	}
	return asked.Transform(func(name, value string) (string, string, error) {
		return cmp.Or(res.View.Fields[name], name), value, nil
	})
}

func checkSelectorSize(query url.Values) error {
	for _, name := range []string{"labelSelector", "fieldSelector"} {
		if n := len(query.Get(name)); n > store.MaxSelector {
			return errors.NewBadRequest(fmt.Sprintf("a %s of %d bytes is too long: the limit is %d", name, n, store.MaxSelector))
		}
	}
	return nil
}

// checkFields refuses fields that selectors cannot use. The message differs between kinds with
// fields of their own and all others.
func checkFields(res *resource.Resource, asked fields.Selector) error {
	known := selectable(res)
	for _, requirement := range asked.Requirements() {
		name := requirement.Field
		switch {
		case known.Has(name):
			continue
		case res.Custom != nil:
			return errors.NewBadRequest("field label not supported: " + name)
		case res.Base().Fields != nil:
			return errors.NewBadRequest("field label not supported: " + name)
		}
		return errors.NewBadRequest(fmt.Sprintf("%q is not a known field selector: only %q, %q", name, "metadata.name", "metadata.namespace"))
	}
	return nil
}

// selectable returns the names of the fields that selectors may use, as keys of a set.
func selectable(res *resource.Resource) fields.Set {
	known := fields.Set{"metadata.name": "", "metadata.namespace": ""}
	if res.Custom != nil {
		for name := range res.Custom.Selectable {
			known[name] = ""
		}
	}
	if res.View != nil && res.View.Fields != nil {
		maps.Copy(known, res.View.Fields)
	} else if base := res.Base(); base.Fields != nil {
		maps.Copy(known, base.Fields(base.Empty()))
	}
	return known
}

// listOptions are the parsed options of a list.
type listOptions struct {
	rv      uint64
	rvGiven bool
	exact   bool
	limit   int // 0: no limit
	token   *continueToken
}

// parseListOptions applies the rules of "Semantics for LIST" in Kubernetes' API concepts.
func parseListOptions(from *internalversion.ListOptions) (listOptions, error) {
	o := listOptions{rvGiven: from.ResourceVersion != "", limit: int(max(from.Limit, 0))}
	var err error
	if o.rv, err = parseRV(from.ResourceVersion); err != nil {
		return o, errors.NewBadRequest("invalid resource version: " + err.Error())
	}
	if from.Continue != "" {
		if o.rvGiven && o.rv != 0 {
			return o, errors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		if o.token, err = parseToken(from.Continue); err != nil {
			return o, err
		}
	}
	match := from.ResourceVersionMatch
	o.exact = match == metav1.ResourceVersionMatchExact || (match == "" && o.rv > 0 && o.limit > 0)
	if o.rvGiven && o.rv == 0 && o.token == nil {
		o.limit = 0 // lists at "any version" are answered from the cache, without pages
	}
	return o, nil
}
