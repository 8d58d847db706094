package kubeapi

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
)

func (s *Server) update(w http.ResponseWriter, r *request) error {
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	opts, err := r.updateOptions()
	if err != nil {
		return err
	}
	again := func() (runtime.Object, error) { return readObject(discard{}, r) }
	o, created, err := s.state.update(&r.operation, obj, again, opts)
	if err != nil {
		return err
	}
	return respond(w, r, statusOfWrite(created), o)
}

// statusOfWrite is the code of a write's answer.
func statusOfWrite(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}
