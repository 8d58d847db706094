package kubeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// delete ends an object, at once unless finalizers hold it or it is a pod that
// a kubelet has to end first.
func (s *Server) delete(w http.ResponseWriter, r *request) error {
	opts, err := readDeleteOptions(r)
	if err != nil {
		return err
	}
	dryRun, err := r.dryRun(opts.DryRun)
	if err != nil {
		return err
	}
	base, err := s.deleteKey(r, r.key(), opts, dryRun)
	if err != nil {
		return err
	}
	if base == nil {
		return r.notFound()
	}
	if r.res.returnsDeleted || r.objects.get(base.key) != nil {
		return respond(w, r, http.StatusOK, base)
	}
	return succeed(w, r, base)
}

// deleteKey deletes the object under key and returns its last state, nil if there is none.
func (s *Server) deleteKey(r *request, key string, opts *metav1.DeleteOptions, dryRun bool) (*object, error) {
	for {
		base := r.objects.get(key)
		if base == nil {
			return nil, nil
		}
		if err := checkPreconditions(r, base, opts.Preconditions); err != nil {
			return nil, err
		}
		if err := s.admit(r, nil, base, dryRun); err != nil {
			return nil, err
		}
		if dryRun {
			return base, nil
		}
		o, err := s.end(r.objects, base, opts)
		if err != errMoved {
			return o, err
		}
	}
}

func checkPreconditions(r *request, base *object, must *metav1.Preconditions) error {
	if must == nil {
		return nil
	}
	if must.UID != nil && *must.UID != base.uid {
		return errors.NewConflict(r.res.groupResource(), base.name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", *must.UID, base.uid))
	}
	if must.ResourceVersion != nil && *must.ResourceVersion != formatRV(base.rv) {
		return errors.NewConflict(r.res.groupResource(), base.name,
			fmt.Errorf("Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *must.ResourceVersion, formatRV(base.rv)))
	}
	return nil
}

// end deletes base, or marks it to be deleted when nothing holds it any more.
func (s *Server) end(c *collection, base *object, opts *metav1.DeleteOptions) (*object, error) {
	switch c {
	case s.namespaces:
		return s.endNamespace(base)
	case s.definitions:
		return s.endDefinition(base)
	}
	o, err := c.end(base, opts)
	if err == nil {
		err = s.settle(c, base.namespace)
	}
	return o, err
}

func (c *collection) end(base *object, opts *metav1.DeleteOptions) (*object, error) {
	t, err := c.prepareEnd(base, opts.GracePeriodSeconds)
	if err != nil || t.kind == "" {
		return base, err
	}
	return c.commitOne(t)
}

// remove takes base out of the store; last is its last state.
func (s *Server) remove(c *collection, base *object, last runtime.Object) (*object, error) {
	o, err := c.commit(watch.Deleted, base, last)
	if err == nil {
		err = s.settle(c, base.namespace)
	}
	return o, err
}

func (s *Server) deleteCollection(w http.ResponseWriter, r *request) error {
	sel, err := parseSelector(r.res, r.namespace, "", r.query)
	if err != nil {
		return err
	}
	opts, err := readDeleteOptions(r)
	if err != nil {
		return err
	}
	dryRun, err := r.dryRun(opts.DryRun)
	if err != nil {
		return err
	}
	objects, rv, _ := r.objects.snapshot()
	var deleted []*object
	for _, o := range sel.filter(objects) {
		one := *opts
		one.Preconditions = &metav1.Preconditions{UID: &o.uid}
		last, err := s.deleteKey(r, o.key, &one, dryRun)
		if errors.IsConflict(err) {
			continue // another object by now
		}
		if err != nil {
			return err
		}
		if last != nil {
			deleted = append(deleted, last)
		}
	}
	return respondList(w, r, deleted, metav1.ListMeta{ResourceVersion: formatRV(rv)})
}

// readDeleteOptions reads them from the body, if there is one. Clients send them as
// protobuf or JSON, with or without a kind.
func readDeleteOptions(r *request) (*metav1.DeleteOptions, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	opts := &metav1.DeleteOptions{}
	if len(body) == 0 {
		return opts, nil
	}
	mediaType, err := contentType(r, "application/json")
	if err != nil {
		return nil, err
	}
	switch mediaType {
	case protobufType:
		envelope, err := openEnvelope(body)
		if err != nil {
			return nil, err
		}
		err = opts.Unmarshal(envelope.Raw)
		return opts, badOptions(err)
	case "application/json":
		return opts, badOptions(json.Unmarshal(body, opts))
	}
	return nil, unsupportedMediaType(mediaType, "application/json", protobufType)
}

func badOptions(err error) error {
	if err == nil {
		return nil
	}
	return errors.NewBadRequest(fmt.Sprintf("the body is not a DeleteOptions: %v", err))
}
