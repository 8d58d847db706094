package kinds

import (
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Reviews are questions: a client creates an object, and the server answers without storing it.
// Every user who may send a review may do everything.

func reviewOf[T runtime.Object](f func(obj T, by resource.Asker) error) func(runtime.Object, resource.Asker) error {
	return func(obj runtime.Object, by resource.Asker) error { return f(obj.(T), by) }
}

func reviewSelf(review *authenticationv1.SelfSubjectReview, by resource.Asker) error {
	review.CreationTimestamp = metav1.NewTime(time.Now().Truncate(time.Second))
	review.Status.UserInfo = by.User
	return nil
}

func reviewToken(review *authenticationv1.TokenReview, by resource.Asker) error {
	if review.Spec.Token == "" {
		return errors.NewBadRequest("token is required for TokenReview in authentication")
	}
	review.Status = by.Authenticate(review.Spec.Token, review.Spec.Audiences)
	return nil
}

var allowed = authorizationv1.SubjectAccessReviewStatus{Allowed: true}

func reviewAccess(review *authorizationv1.SubjectAccessReview, _ resource.Asker) error {
	review.Status = allowed
	return refuseReview(aboutSomebody(&review.Spec), aboutOneThing(review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes))
}

func reviewSelfAccess(review *authorizationv1.SelfSubjectAccessReview, _ resource.Asker) error {
	review.Status = allowed
	return refuseReview(aboutOneThing(review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes))
}

func reviewLocalAccess(review *authorizationv1.LocalSubjectAccessReview, by resource.Asker) error {
	review.Status = allowed
	return refuseReview(aboutSomebody(&review.Spec), aboutOneThing(review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes),
		aboutNamespace(&review.Spec, by.Namespace))
}

func reviewSelfRules(review *authorizationv1.SelfSubjectRulesReview, _ resource.Asker) error {
	if review.Spec.Namespace == "" {
		return errors.NewBadRequest("no namespace on request")
	}
	all := []string{"*"}
	review.Status = authorizationv1.SubjectRulesReviewStatus{
		ResourceRules:    []authorizationv1.ResourceRule{{Verbs: all, APIGroups: all, Resources: all}},
		NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: all, NonResourceURLs: all}},
	}
	return nil
}

// refuseReview returns the 422 error for an invalid review. As in kube-apiserver, the error has no
// kind.
func refuseReview(problems ...field.ErrorList) error {
	all := slices.Concat(problems...)
	if len(all) == 0 {
		return nil
	}
	return errors.NewInvalid(schema.GroupKind{Group: authorizationv1.GroupName}, "", all)
}

func aboutSomebody(spec *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	if spec.User == "" && len(spec.Groups) == 0 {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "user"), spec.User, "at least one of user or group must be specified")}
	}
	return nil
}

func aboutOneThing(resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) field.ErrorList {
	spec := field.NewPath("spec")
	switch {
	case resource != nil && path != nil:
		shown := struct{ Path, Verb string }{path.Path, path.Verb} // kube-apiserver's field names
		return field.ErrorList{field.Invalid(spec.Child("nonResourceAttributes"), shown, "cannot be specified in combination with resourceAttributes")}
	case resource == nil && path == nil:
		return field.ErrorList{field.Invalid(spec.Child("resourceAttributes"), resource, "exactly one of nonResourceAttributes or resourceAttributes must be specified")}
	}
	return nil
}

func aboutNamespace(spec *authorizationv1.SubjectAccessReviewSpec, namespace string) field.ErrorList {
	path := field.NewPath("spec", "resourceAttributes", "namespace")
	if spec.ResourceAttributes != nil && spec.ResourceAttributes.Namespace != namespace {
		return field.ErrorList{field.Invalid(path, spec.ResourceAttributes.Namespace, "must match metadata.namespace")}
	}
	return nil
}
