package kubeapi

import (
	"fmt"
	"io"
	"net/http"

	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

func (s *Server) delete(w http.ResponseWriter, r *request) error {
	opts, err := readDeleteOptions(r)
	if err != nil {
		return err
	}
	base, held, err := s.state.delete(&r.operation, opts)
	switch {
	case err != nil:
		return err
	case held && opts.OrphanDependents != nil && !*opts.OrphanDependents:
		return respond(w, r, http.StatusAccepted, base)
	case held || r.res.returnsDeleted:
		return respond(w, r, http.StatusOK, base)
	}
	return succeed(w, r, base)
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
		_, _, err := s.state.deleteKey(&r.operation, o.key, &one)
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
