package kubeapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listOptions is the query of a list, read.
type listOptions struct {
	rv      uint64
	rvGiven bool
	exact   bool
	limit   int
	token   *continueToken
}

// continueToken is where a list goes on. Version -1 lets it go on in whatever
// there is now, which clients use when their version has been compacted.
type continueToken struct {
	API     string `json:"v"`
	Version int64  `json:"rv"`
	Start   string `json:"start"`
}

func (t continueToken) String() string {
	b, _ := json.Marshal(t) // strings and a number always encode
	return base64.RawURLEncoding.EncodeToString(b)
}

func parseToken(text string) (*continueToken, error) {
	var t continueToken
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err == nil && (t.API != "meta.k8s.io/v1" || t.Start == "" || t.Version < -1) {
		err = fmt.Errorf("unknown version or no start key")
	}
	if err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("continue key is not valid: %v", err))
	}
	return &t, nil
}

// parseListOptions applies the rules of "Semantics for LIST" in Kubernetes' API concepts.
func parseListOptions(r *request) (listOptions, error) {
	var o listOptions
	var err error
	q := r.query
	o.rvGiven = q.Get("resourceVersion") != ""
	if o.rv, err = parseRV(q.Get("resourceVersion")); err != nil {
		return o, err
	}
	if text := q.Get("limit"); text != "" {
		if o.limit, err = strconv.Atoi(text); err != nil || o.limit < 0 {
			return o, errors.NewBadRequest(fmt.Sprintf("limit %q is not a number from 0", text))
		}
	}
	if text := q.Get("continue"); text != "" {
		if o.rvGiven && o.rv != 0 {
			return o, errors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		if o.token, err = parseToken(text); err != nil {
			return o, err
		}
	}
	match := metav1.ResourceVersionMatch(q.Get("resourceVersionMatch"))
	if err := checkMatch(r, match, o); err != nil {
		return o, err
	}
	o.exact = match == metav1.ResourceVersionMatchExact || (match == "" && o.rv > 0 && o.limit > 0)
	if o.rvGiven && o.rv == 0 && o.token == nil {
		o.limit = 0 // "any version" is answered from the cache, whole
	}
	return o, nil
}

func checkMatch(r *request, match metav1.ResourceVersionMatch, o listOptions) error {
	if r.query.Has("sendInitialEvents") {
		return invalidOption("sendInitialEvents", "sendInitialEvents is forbidden for list")
	}
	switch match {
	case "":
		return nil
	case metav1.ResourceVersionMatchExact, metav1.ResourceVersionMatchNotOlderThan:
	default:
		return invalidOption("resourceVersionMatch", fmt.Sprintf("unsupported value: %q: supported values: Exact, NotOlderThan", match))
	}
	switch {
	case o.token != nil:
		return invalidOption("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
	case !o.rvGiven:
		return invalidOption("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided")
	case match == metav1.ResourceVersionMatchExact && o.rv == 0:
		return invalidOption("resourceVersionMatch", `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
	}
	return nil
}

func (s *Server) list(w http.ResponseWriter, r *request) error {
	sel, err := parseSelector(r.res, r.namespace, "", r.query)
	if err != nil {
		return err
	}
	opts, err := parseListOptions(r)
	if err != nil {
		return err
	}
	if err := s.await(r.Context(), opts.rv); err != nil {
		return err
	}
	objects, rv, _, stale := s.staleRead(r)
	if !stale {
		if objects, rv, err = r.objects.read(opts); err != nil {
			return err
		}
	}
	page, m := paginate(sel.filter(objects), rv, opts, sel.narrow())
	return respondList(w, r, page, m)
}

// read returns the objects that a list is about, before selection, and their version.
func (c *collection) read(opts listOptions) ([]*object, uint64, error) {
	want := opts.rv
	if opts.token != nil && opts.token.Version > 0 {
		want = uint64(opts.token.Version)
	} else if !opts.exact {
		objects, rv, _ := c.snapshot()
		if opts.limit > 0 && len(objects) > opts.limit {
			c.paged.Store(&state{rv, objects}) // the next page will want it
		}
		return objects, rv, nil
	}
	objects, ok := c.snapshotAt(want)
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

// paginate cuts the page out of objects, which are in the order of their keys.
func paginate(objects []*object, rv uint64, opts listOptions, narrow bool) ([]*object, metav1.ListMeta) {
	m := metav1.ListMeta{ResourceVersion: formatRV(rv)}
	if opts.token != nil {
		from := sort.Search(len(objects), func(i int) bool { return objects[i].key >= opts.token.Start })
		objects = objects[from:]
	}
	if opts.limit == 0 || len(objects) <= opts.limit {
		return objects, m
	}
	page, rest := objects[:opts.limit], int64(len(objects)-opts.limit)
	m.Continue = continueToken{"meta.k8s.io/v1", int64(rv), page[len(page)-1].key + "\x00"}.String()
	if !narrow {
		m.RemainingItemCount = &rest
	}
	return page, m
}

// invalidOption is the 422 of a query that contradicts itself.
func invalidOption(field, message string) error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: fmt.Sprintf("ListOptions.meta.k8s.io \"\" is invalid: %s: Forbidden: %s", field, message),
		Details: &metav1.StatusDetails{
			Group:  "meta.k8s.io",
			Kind:   "ListOptions",
			Causes: []metav1.StatusCause{{Type: metav1.CauseTypeForbidden, Message: "Forbidden: " + message, Field: field}},
		},
	}}
}
