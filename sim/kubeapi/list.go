package kubeapi

import (
	"net/http"
	"sort"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

func (s *Server) list(w http.ResponseWriter, r *request) error {
	query, sel, err := readQuery(r)
	if err != nil {
		return err
	}
	opts, err := parseListOptions(query)
	if err != nil {
		return err
	}
	if err := s.await(r.Context(), opts.rv); err != nil {
		return err
	}
	objects, rv, _, stale := s.staleRead(r)
	if !stale {
		if objects, rv, err = readObjects(r.Objects, opts); err != nil {
			return err
		}
	}
	page, m := paginate(sel.Filter(objects), rv, opts, sel)
	return respondList(w, r, page, m)
}

// readObjects returns the objects of a list before selection, and their version.
func readObjects(c *store.Collection, opts listOptions) ([]*store.Object, uint64, error) {
	want := opts.rv
	if opts.token != nil && opts.token.Version > 0 {
		want = uint64(opts.token.Version)
	} else if !opts.exact {
		objects, rv, _ := c.Snapshot()
		if opts.limit > 0 && len(objects) > opts.limit {
			c.KeepForPages(rv, objects)
		}
		return objects, rv, nil
	}
	objects, ok := c.SnapshotAt(want)
	if ok {
		return objects, want, nil
	}
	if opts.token == nil {
		return nil, 0, errors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	err := errors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to go on with an inconsistent list.")
	err.ErrStatus.ListMeta.Continue = continueToken{opts.token.API, -1, opts.token.Start}.String()
	return nil, 0, err
}

// paginate returns one page of objects, which are in the order of their keys.
func paginate(objects []*store.Object, rv uint64, opts listOptions, sel store.Selector) ([]*store.Object, metav1.ListMeta) {
	m := metav1.ListMeta{ResourceVersion: object.FormatVersion(rv)}
	if opts.token != nil {
		start := opts.token.key(sel.Namespace)
		from := sort.Search(len(objects), func(i int) bool { return objects[i].Key >= start })
		objects = objects[from:]
	}
	if opts.limit == 0 || len(objects) <= opts.limit {
		return objects, m
	}
	page, rest := objects[:opts.limit], int64(len(objects)-opts.limit)
	m.Continue = tokenAfter(page[len(page)-1], sel.Namespace, rv).String()
	if !sel.Narrow() {
		m.RemainingItemCount = &rest
	}
	return page, m
}
