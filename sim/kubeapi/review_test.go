package kubeapi

import (
	"fmt"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/kubeapi/internal/codec"
)

// Reviews are answered in JSON and protobuf, allow everything and are not stored.
func TestReviewsAllowEverything(t *testing.T) {
	s := start(t)
	for _, contentType := range []string{"application/json", codec.ProtobufType} {
		config := rest.CopyConfig(s.Config())
		config.ContentType = contentType
		c := client(t, config)
		access, err := c.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: "a", ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods"}}}, metav1.CreateOptions{})
		if err != nil || !access.Status.Allowed || access.Spec.User != "a" {
			t.Errorf("%s: %+v, %v", contentType, access, err)
		}
		local, err := c.AuthorizationV1().LocalSubjectAccessReviews("default").Create(t.Context(), &authorizationv1.LocalSubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{User: "a", ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default"}}}, metav1.CreateOptions{})
		if err != nil || !local.Status.Allowed {
			t.Errorf("%s: %+v, %v", contentType, local, err)
		}
		self, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil || self.Status.UserInfo.Username == "" {
			t.Errorf("%s: %+v, %v", contentType, self, err)
		}
		err = c.AuthorizationV1().RESTClient().Get().Resource("subjectaccessreviews").Do(t.Context()).Error()
		if !errors.IsMethodNotSupported(err) {
			t.Errorf("%s: list: %v", contentType, err)
		}
	}
	if n := s.Holds()["subjectaccessreviews.authorization.k8s.io"]; n != 0 {
		t.Errorf("%d reviews are stored", n)
	}
}

// Reviews return the user: a certificate's user and groups, else the administrator.
func TestReviewReturnsTheUser(t *testing.T) {
	t.Parallel()
	s := start(t)
	jane, err := s.CertificateConfig("jane", "shop")
	if err != nil {
		t.Fatal(err)
	}
	for want, config := range map[string]*rest.Config{"jane [shop system:authenticated]": jane, "kubernetes-admin [system:masters system:authenticated]": s.TLSConfig()} {
		self, err := client(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(self.Status.UserInfo.Username, " ", self.Status.UserInfo.Groups); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
