package kubeapi

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/sim/kubeapi/internal/accounts"
	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/ownership"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// issueToken answers a request for a token of a service account.
func (s *Server) issueToken(w http.ResponseWriter, r *request) error {
	obj, err := readAs(w, r, kinds.TokenRequests)
	if err != nil {
		return err
	}
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	base := r.Objects.Get(r.Key())
	if base == nil {
		return r.NotFound()
	}
	account, err := base.Decode()
	if err != nil {
		return err
	}
	kinds.TokenRequests.Complete(obj, nil)
	owners := ownership.Tracker{Resource: kinds.TokenRequests, Subresource: r.Subresource}
	if obj, err = owners.Update(nil, kinds.TokenRequests.Empty(), obj, opts.Manager); err != nil {
		return err
	}
	request := obj.(*authenticationv1.TokenRequest)
	if err := s.tokens.Issue(account.(*corev1.ServiceAccount), request); err != nil {
		return err
	}
	o, err := store.Encode(kinds.TokenRequests, request, 0)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}

// reviewToken returns the status of a review of a token.
func (s *Server) reviewToken(token string, audiences []string) authenticationv1.TokenReviewStatus {
	if len(audiences) == 0 {
		audiences = []string{accounts.Name}
	}
	if s.isToken(token) { // the administrator's token is valid for every audience
		return authenticationv1.TokenReviewStatus{Authenticated: true, User: administrator(), Audiences: audiences}
	}
	user, valid, err := s.tokens.Check(token, audiences)
	if err != nil {
		return authenticationv1.TokenReviewStatus{Error: err.Error()}
	}
	return authenticationv1.TokenReviewStatus{Authenticated: true, User: *user, Audiences: valid}
}
