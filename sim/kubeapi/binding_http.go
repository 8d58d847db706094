package kubeapi

import (
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (s *Server) bindingVerb(r *request) func(http.ResponseWriter, *request) error {
	if r.Method != http.MethodPost {
		return nil
	}
	return s.bind
}

func (s *Server) bind(w http.ResponseWriter, r *request) error {
	pods := r.res
	r.res = bindings
	obj, err := readObject(w, r)
	r.res = pods
	if err != nil {
		return err
	}
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	if err := s.state.bind(&r.operation, obj.(*corev1.Binding).Target.Name, opts.dryRun); err != nil {
		return err
	}
	body, err := r.codec.value(&metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
	if err != nil {
		return err
	}
	write(w, r.Request, r.codec.mediaType(), http.StatusCreated, body)
	return nil
}
