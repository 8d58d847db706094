package kubeapi

import (
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"
)

// delete ends an object, at once unless finalizers hold it or it is a pod that
// a kubelet has to end first.
func (s *Server) delete(w http.ResponseWriter, r *request) error {
	opts, err := readDeleteOptions(r)
	if err == nil {
		err = r.mayDelete()
	}
	if err != nil {
		return err
	}
	base, held, err := s.deleteKey(r, r.key(), opts)
	switch {
	case err != nil:
		return err
	case base == nil:
		return r.notFound()
	case held && opts.OrphanDependents != nil && !*opts.OrphanDependents:
		return respond(w, r, http.StatusAccepted, base)
	case held || r.res.returnsDeleted:
		return respond(w, r, http.StatusOK, base)
	}
	return succeed(w, r, base)
}

// deleteKey deletes the object under key and returns its last state, nil if there
// is none; held says whether finalizers still hold it.
func (s *Server) deleteKey(r *request, key string, opts *metav1.DeleteOptions) (o *object, held bool, err error) {
	for {
		base := r.objects.get(key)
		if base == nil {
			return nil, false, nil
		}
		if err := checkPreconditions(r, base, opts.Preconditions); err != nil {
			return nil, false, err
		}
		if err := s.admit(r, nil, base, len(opts.DryRun) > 0); err != nil {
			return nil, false, err
		}
		switch r.objects {
		case s.namespaces, s.definitions:
			o, held, err = s.unfold(r.objects, base, len(opts.DryRun) > 0)
		default:
			o, held, err = s.finish(r.objects, base, opts)
		}
		if !moved(err) {
			return o, held, err
		}
	}
}

// unfold deletes a namespace or a definition with what is in it.
func (s *Server) unfold(c *collection, base *object, dryRun bool) (o *object, held bool, err error) {
	if dryRun {
		return base, false, nil
	}
	o, err = s.end(c, base, &metav1.DeleteOptions{})
	return o, c.get(base.key) != nil, err
}

// finish deletes base, or marks it to be deleted when nothing holds it any more.
func (s *Server) finish(c *collection, base *object, opts *metav1.DeleteOptions) (o *object, held bool, err error) {
	last, err := base.decode()
	if err != nil {
		return nil, false, err
	}
	if !c.res.noDependents {
		setPropagation(metadataOf(last), opts)
	}
	t, err := c.prepareEndOf(base, last, opts.GracePeriodSeconds)
	held = t.kind != watch.Deleted
	switch dryRun := len(opts.DryRun) > 0; {
	case err != nil:
		return nil, held, err
	case dryRun && !held && c.res.terminates:
		markDeleted(metadataOf(last), 0)
		o, err = c.res.seal(last, base.rv)
		return o, held, err
	case t.kind == "" || dryRun && !held:
		return base, held, nil
	case dryRun:
		return t.sealed, held, nil
	}
	if !held && c.res.terminates {
		if t, err = c.terminate(base, last); err != nil {
			return nil, held, err
		}
		o, err = c.removeMarked(t)
	} else {
		o, err = c.commitOne(t)
	}
	if err == nil && !held {
		err = s.settle(c, base.namespace)
	}
	return o, held, err
}

// removeMarked commits what terminate returned. A kubelet that sees the mark may remove
// the object first, which is no error (kube-apiserver, Store.Delete).
func (c *collection) removeMarked(t transition) (*object, error) {
	o, err := c.commitOne(t)
	if now := c.get(t.base.key); moved(err) && (now == nil || now.uid != t.base.uid) {
		return t.base, nil
	}
	return o, err
}

func checkPreconditions(r *request, base *object, must *metav1.Preconditions) error {
	if must == nil {
		return nil
	}
	kind := schema.GroupResource{Group: r.res.group, Resource: r.res.kind} // not the resource, as kube-apiserver words it
	if must.UID != nil && *must.UID != base.uid {
		return errors.NewConflict(kind, base.name, fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *must.UID, base.uid))
	}
	if must.ResourceVersion != nil && *must.ResourceVersion != formatRV(base.rv) {
		return errors.NewConflict(kind, base.name, fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *must.ResourceVersion, formatRV(base.rv)))
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

// remove takes base out of the store.
func (s *Server) remove(c *collection, base *object) (*object, error) {
	o, err := c.commitOne(gone(base))
	if err == nil {
		err = s.settle(c, base.namespace)
	}
	return o, err
}

// deleteCollection answers with the objects as they were.
func (s *Server) deleteCollection(w http.ResponseWriter, r *request) error {
	_, sel, err := readQuery(r)
	if err != nil {
		return err
	}
	opts, err := readDeleteOptions(r)
	if err != nil {
		return err
	}
	objects, rv, _ := r.objects.snapshot()
	selected := sel.filter(objects)
	for _, o := range selected {
		one := *opts
		if one.Preconditions == nil {
			one.Preconditions = &metav1.Preconditions{UID: &o.uid}
		}
		_, _, err := s.deleteKey(r, o.key, &one)
		if errors.IsConflict(err) && opts.Preconditions == nil {
			continue // another object by now
		}
		if err != nil {
			return err
		}
	}
	return respondList(w, r, selected, metav1.ListMeta{ResourceVersion: formatRV(rv)})
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
		err = decodeOptions(r.query, opts)
	} else {
		err = decodeDeleteOptions(r, body, opts)
	}
	if err != nil {
		return nil, err
	}
	r.deleteOptions = opts
	return opts, invalidOptions("DeleteOptions", metav1validation.ValidateDeleteOptions(opts))
}

func decodeDeleteOptions(r *request, body []byte, opts *metav1.DeleteOptions) error {
	mediaType, err := contentType(r)
	if err != nil {
		return err
	}
	switch mediaType {
	case protobufType:
		envelope, err := openEnvelope(body)
		if err != nil {
			return err
		}
		return badOptions(opts.Unmarshal(envelope.Raw))
	case "application/json", "application/yaml":
		return badOptions(yaml.Unmarshal(body, opts))
	}
	return unsupportedMediaType("application/json", yamlType, protobufType)
}

func badOptions(err error) error {
	if err == nil {
		return nil
	}
	return errors.NewBadRequest(fmt.Sprintf("the body is not a DeleteOptions: %v", err))
}
