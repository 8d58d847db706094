package kubeapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/yaml"
)

// delete ends an object at once, pods included, for there is no kubelet whose
// farewell it could wait for; only finalizers hold it, among them those of the
// propagation policy.
func (s *Server) delete(w http.ResponseWriter, r *request) error {
	opts, err := readDeleteOptions(r)
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
		if r.objects == s.namespaces {
			o, held, err = s.deleteNamespace(base, len(opts.DryRun) > 0)
		} else {
			o, held, err = s.finish(r.objects, base, opts)
		}
		if err != errMoved {
			return o, held, err
		}
	}
}

func (s *Server) deleteNamespace(base *object, dryRun bool) (o *object, held bool, err error) {
	if dryRun {
		return base, false, nil
	}
	o, err = s.endNamespace(base)
	return o, s.namespaces.get(base.key) != nil, err
}

// finish deletes base, or marks it to be deleted when its finalizers are gone.
func (s *Server) finish(c *collection, base *object, opts *metav1.DeleteOptions) (o *object, held bool, err error) {
	last, err := base.decode()
	if err != nil {
		return nil, false, err
	}
	m := metadataOf(last)
	if !c.res.noDependents {
		setPropagation(m, opts)
	}
	held = len(m.Finalizers) > 0
	dryRun := len(opts.DryRun) > 0
	switch {
	case !held && dryRun:
		return base, false, nil
	case !held:
		o, err = s.remove(c, base, last)
		return o, false, err
	case !base.deleting:
		markDeleted(last)
	}
	o, err = c.res.seal(last, base.rv)
	switch {
	case err != nil:
	case bytes.Equal(o.raw, base.raw):
		o = base
	case !dryRun:
		o, err = c.commit(watch.Modified, base, last)
	}
	return o, true, err
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

// end deletes base, or marks it to be deleted when its finalizers are gone, for
// the server itself.
func (c *collection) end(base *object) (*object, error) {
	last, err := base.decode()
	switch {
	case err != nil:
		return nil, err
	case len(metadataOf(last).Finalizers) == 0:
		return c.commit(watch.Deleted, base, last)
	case base.deleting:
		return base, nil
	}
	markDeleted(last)
	return c.commit(watch.Modified, base, last)
}

func markDeleted(obj runtime.Object) {
	m := metadataOf(obj)
	now, grace := metav1.NewTime(time.Now().Truncate(time.Second)), int64(0)
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &now, &grace
	if m.Generation > 0 {
		m.Generation++
	}
}

// remove takes base out of the store; last is its last state.
func (s *Server) remove(c *collection, base *object, last runtime.Object) (*object, error) {
	o, err := c.commit(watch.Deleted, base, last)
	if err == nil {
		err = s.settleNamespace(base.namespace)
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
	objects, rv, _ := r.objects.snapshot()
	var deleted []*object
	for _, o := range sel.filter(objects) {
		one := *opts
		if one.Preconditions == nil {
			one.Preconditions = &metav1.Preconditions{UID: &o.uid}
		}
		last, _, err := s.deleteKey(r, o.key, &one)
		if errors.IsConflict(err) && opts.Preconditions == nil {
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
		err = decodeOptions(r.query, opts)
	} else {
		err = decodeDeleteOptions(r, body, opts)
	}
	if err != nil {
		return nil, err
	}
	return opts, invalidOptions("DeleteOptions", metav1validation.ValidateDeleteOptions(opts))
}

func decodeDeleteOptions(r *request, body []byte, opts *metav1.DeleteOptions) error {
	mediaType, err := contentType(r, "application/json")
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
	return unsupportedMediaType(mediaType, "application/json", "application/yaml", protobufType)
}

func badOptions(err error) error {
	if err == nil {
		return nil
	}
	return errors.NewBadRequest(fmt.Sprintf("the body is not a DeleteOptions: %v", err))
}
