package kubeapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// whoami returns the user that the server sees.
func whoami(t *testing.T, c kubernetes.Interface) (authenticationv1.UserInfo, error) {
	t.Helper()
	review, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, err
	}
	return review.Status.UserInfo, nil
}

// A token is a credential for as long as its account and its pod exist.
func TestTokensOfServiceAccounts(t *testing.T) {
	s := startWith(t, Options{HTTP: "127.0.0.1:0"})
	admin := client(t, s.Config())
	account, err := admin.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "builder"}}, metav1.CreateOptions{})
	check(t, err)
	_, err = admin.CoreV1().Pods("default").Create(t.Context(), podWith("worker", "builder"), metav1.CreateOptions{})
	check(t, err)
	issue := func(spec authenticationv1.TokenRequestSpec) string {
		t.Helper()
		request, err := admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "builder", &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
		check(t, err)
		return request.Status.Token
	}
	with := func(token string) kubernetes.Interface {
		return client(t, &rest.Config{Host: s.URL(), BearerToken: token})
	}
	plain, foreign := issue(authenticationv1.TokenRequestSpec{}), issue(authenticationv1.TokenRequestSpec{Audiences: []string{"vault"}})
	bound := issue(authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "worker"}})
	user, err := whoami(t, with(plain))
	check(t, err)
	if user.Username != "system:serviceaccount:default:builder" || user.UID != string(account.UID) || !slices.Contains(user.Groups, "system:serviceaccounts:default") {
		t.Errorf("the token is that of %+v", user)
	}
	if user, err = whoami(t, with(bound)); err != nil || fmt.Sprint(user.Extra["authentication.kubernetes.io/pod-name"]) != "[worker]" {
		t.Errorf("the bound token is that of %+v, %v", user, err)
	}
	for name, token := range map[string]string{"another audience": foreign, "another signature": plain[:len(plain)-8] + "AAAAAAAA", "unsigned": plain[:strings.LastIndex(plain, ".")+1]} {
		if _, err := whoami(t, with(token)); !errors.IsUnauthorized(err) {
			t.Errorf("a token with %s: %v", name, err)
		}
	}
	review, err := admin.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{
		Spec: authenticationv1.TokenReviewSpec{Token: foreign, Audiences: []string{"vault", "other"}}}, metav1.CreateOptions{})
	if err != nil || !review.Status.Authenticated || fmt.Sprint(review.Status.Audiences) != "[vault]" {
		t.Errorf("review: %+v, %v", review.Status, err)
	}
	check(t, admin.CoreV1().Pods("default").Delete(t.Context(), "worker", metav1.DeleteOptions{}))
	if _, err := whoami(t, with(bound)); !errors.IsUnauthorized(err) {
		t.Errorf("after the end of its pod: %v", err)
	}
	check(t, admin.CoreV1().ServiceAccounts("default").Delete(t.Context(), "builder", metav1.DeleteOptions{}))
	if _, err := whoami(t, with(plain)); !errors.IsUnauthorized(err) {
		t.Errorf("after the end of its account: %v", err)
	}
}

func TestImpersonation(t *testing.T) {
	s := startWith(t, Options{HTTP: "127.0.0.1:0"})
	as := func(who rest.ImpersonationConfig) (authenticationv1.UserInfo, error) {
		config := rest.CopyConfig(s.Config())
		config.Impersonate = who
		return whoami(t, client(t, config))
	}
	user, err := as(rest.ImpersonationConfig{UserName: "jane", UID: "u-1", Groups: []string{"developers"}, Extra: map[string][]string{"example.com/scopes": {"view", "edit"}}})
	check(t, err)
	if user.Username != "jane" || user.UID != "u-1" || fmt.Sprint(user.Groups) != "[developers system:authenticated]" || fmt.Sprint(user.Extra) != "map[example.com/scopes:[view edit]]" {
		t.Errorf("acts as %+v", user)
	}
	if user, err = as(rest.ImpersonationConfig{UserName: "system:serviceaccount:shop:web"}); err != nil || !slices.Contains(user.Groups, "system:serviceaccounts:shop") {
		t.Errorf("acts as %+v, %v", user, err)
	}
	if user, err = as(rest.ImpersonationConfig{UserName: "system:anonymous"}); err != nil || fmt.Sprint(user.Groups) != "[system:unauthenticated]" {
		t.Errorf("acts as %+v, %v", user, err)
	}
	if _, err = as(rest.ImpersonationConfig{Groups: []string{"system:masters"}}); err == nil || !strings.Contains(err.Error(), "without impersonating a user") {
		t.Errorf("a group without a user: %v", err)
	}
	stranger := rest.CopyConfig(s.Config())
	stranger.BearerToken, stranger.Impersonate = "wrong", rest.ImpersonationConfig{UserName: "jane"}
	if _, err := whoami(t, client(t, stranger)); !errors.IsUnauthorized(err) {
		t.Errorf("a stranger acts as somebody: %v", err)
	}
}
