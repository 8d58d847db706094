package kubeapi

import "net/http"

func (s *Server) create(w http.ResponseWriter, r *request) error {
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	o, err := s.state.createOwned(&r.operation, obj, opts)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}
