package kubeapi

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Reviews are questions, put as objects that are created and not stored. Who may
// ask may do everything.

const allowedReason = "the simulated API server allows everything"

func reviewOf[T runtime.Object](f func(obj T, r *request)) func(runtime.Object, *request) {
	return func(obj runtime.Object, r *request) { f(obj.(T), r) }
}

func (s *Server) reviewVerb(r *request) func(http.ResponseWriter, *request) error {
	if r.Method != http.MethodPost || r.name != "" {
		return nil
	}
	return s.review
}

func (s *Server) review(w http.ResponseWriter, r *request) error {
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	if err := placeIn(metadataOf(obj), r); err != nil {
		return err
	}
	r.res.review(obj, r)
	o, err := r.res.seal(obj, 0)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}

func reviewSelf(review *authenticationv1.SelfSubjectReview, r *request) {
	review.Status.UserInfo = r.user()
}

var allowed = authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: allowedReason}

func reviewAccess(review *authorizationv1.SubjectAccessReview, _ *request) { review.Status = allowed }

func reviewSelfAccess(review *authorizationv1.SelfSubjectAccessReview, _ *request) {
	review.Status = allowed
}

func reviewLocalAccess(review *authorizationv1.LocalSubjectAccessReview, _ *request) {
	review.Status = allowed
}

func reviewSelfRules(review *authorizationv1.SelfSubjectRulesReview, _ *request) {
	all := []string{"*"}
	review.Status = authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
		NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
	}
}
