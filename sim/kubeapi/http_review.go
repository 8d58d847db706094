package kubeapi

import "net/http"

func (s *Server) reviewVerb(r *request) func(http.ResponseWriter, *request) error {
	if r.Method != http.MethodPost || r.name != "" {
		return nil
	}
	return s.review
}

func (s *Server) review(w http.ResponseWriter, r *request) error {
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	if obj, err = r.account().own(nil, r.res.empty(), obj, opts.manager); err != nil {
		return err
	}
	if err := placeIn(metadataOf(obj), &r.operation); err != nil {
		return err
	}
	if err := r.res.review(obj, asker{r.user(), r.namespace}); err != nil {
		return err
	}
	o, err := r.res.seal(obj, 0)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}
