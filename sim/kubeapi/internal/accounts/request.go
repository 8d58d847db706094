package accounts

import (
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	minSeconds = 10 * 60
	maxSeconds = 1 << 32
)

var (
	requestKind     = schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}
	requestResource = schema.GroupResource{Group: authenticationv1.GroupName, Resource: "TokenRequest"}
)

// Issue answers a request for a token of the account (kube-apiserver:
// pkg/registry/core/serviceaccount/storage/token.go). It sets the status and the fields that the
// client left out.
func (i *Issuer) Issue(account *corev1.ServiceAccount, request *authenticationv1.TokenRequest) error {
	if err := checkRequest(account, request); err != nil {
		return err
	}
	now := time.Now()
	spec := &request.Spec
	if len(spec.Audiences) == 0 {
		spec.Audiences = []string{Name}
	}
	request.Name, request.Namespace, request.UID = account.Name, account.Namespace, account.UID
	request.CreationTimestamp = metav1.NewTime(now.Truncate(time.Second))
	at := field.NewPath("spec", "expirationSeconds")
	switch seconds := *spec.ExpirationSeconds; {
	case seconds < minSeconds:
		return errors.NewInvalid(requestKind, "", field.ErrorList{field.Invalid(at, seconds, "may not specify a duration less than 10 minutes")})
	case seconds > maxSeconds:
		return errors.NewInvalid(requestKind, "", field.ErrorList{field.Invalid(at, seconds, "may not specify a duration larger than 2^32 seconds")})
	}
	c := newClaims(account, spec, now)
	if spec.BoundObjectRef != nil {
		if err := i.bind(&c.Kubernetes, account, spec.BoundObjectRef); err != nil {
			return err
		}
	}
	token, err := i.sign(c)
	if err != nil {
		return errors.NewInternalError(fmt.Errorf("failed to generate token: %w", err))
	}
	request.Status = authenticationv1.TokenRequestStatus{Token: token, ExpirationTimestamp: metav1.NewTime(c.ExpiresAt.Truncate(time.Second))}
	return nil
}

// checkRequest checks that the request names the account, if it names one.
func checkRequest(account *corev1.ServiceAccount, request *authenticationv1.TokenRequest) error {
	path := field.NewPath("metadata")
	switch {
	case request.Name != "" && request.Name != account.Name:
		return errors.NewInvalid(requestKind, account.Name, field.ErrorList{field.Invalid(path.Child("name"), request.Name, "must match the service account name if specified")})
	case request.Namespace != "" && request.Namespace != account.Namespace:
		return errors.NewInvalid(requestKind, account.Name, field.ErrorList{field.Invalid(path.Child("namespace"), request.Namespace, "must match the service account namespace if specified")})
	case request.UID != "" && request.UID != account.UID:
		return errors.NewConflict(requestResource, account.Name,
			fmt.Errorf("the UID in the token request (%s) does not match the UID of the service account (%s)", request.UID, account.UID))
	}
	return nil
}

// bind binds a token to an object: the token becomes invalid when the object is deleted.
func (i *Issuer) bind(b *bound, account *corev1.ServiceAccount, to *authenticationv1.BoundObjectReference) error {
	kind := schema.FromAPIVersionAndKind(to.APIVersion, to.Kind)
	resource, namespace := map[string]string{"Pod": "pods", "Secret": "secrets", "Node": "nodes"}[kind.Kind], account.Namespace
	if kind.Group != "" || resource == "" {
		return errors.NewBadRequest("cannot bind token to object of type " + kind.String())
	}
	if resource == "nodes" {
		namespace = ""
	}
	obj := i.Object(resource, namespace, to.Name)
	if obj == nil {
		return errors.NewNotFound(schema.GroupResource{Resource: resource}, to.Name)
	}
	r := &ref{to.Name, uidOf(obj)}
	switch obj := obj.(type) {
	case *corev1.Pod:
		if obj.Spec.ServiceAccountName != account.Name {
			return errors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name))
		}
		b.Pod, b.Node = r, i.nodeOf(obj)
	case *corev1.Secret:
		b.Secret = r
	case *corev1.Node:
		b.Node = r
	}
	if to.UID != "" && to.UID != r.UID {
		return errors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, to.Name, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", to.UID))
	}
	return nil
}

// nodeOf returns the node of a pod, which its token mentions.
func (i *Issuer) nodeOf(pod *corev1.Pod) *ref {
	if pod.Spec.NodeName == "" {
		return nil
	}
	node := i.Object("nodes", "", pod.Spec.NodeName)
	if node == nil {
		return &ref{Name: pod.Spec.NodeName}
	}
	return &ref{pod.Spec.NodeName, uidOf(node)}
}
