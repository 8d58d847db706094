package defaults

import (
	authenticationv1 "k8s.io/api/authentication/v1"
)

const tokenSeconds = 60 * 60

func TokenRequest(request, _ *authenticationv1.TokenRequest) {
	setPointer(&request.Spec.ExpirationSeconds, tokenSeconds)
}
