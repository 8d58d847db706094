// Package accounts issues and checks the tokens of service accounts. It stands between the requests
// that ask for or carry such tokens and the objects that the tokens are bound to. Its one rule: a token is
// valid only as long as its account, and the object that it is bound to, exist.
package accounts

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Name is the issuer in the tokens, and their audience unless a client asks for another one: the
// default of kubeadm.
const Name = "https://kubernetes.default.svc.cluster.local"

// Issuer signs tokens with a key of its own.
type Issuer struct {
	// Object returns an object of the core group, or nil if it does not exist.
	Object func(resource, namespace, name string) runtime.Object

	key func() *ecdsa.PrivateKey
}

// NewIssuer returns an issuer. It creates its key when it first needs it.
func NewIssuer(object func(resource, namespace, name string) runtime.Object) *Issuer {
	return &Issuer{Object: object, key: sync.OnceValue(func() *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(fmt.Sprintf("kubeapi: creating the key for service accounts: %v", err)) // crypto/rand never fails
		}
		return key
	})}
}

// claims are the contents of a token, as kube-apiserver writes them (pkg/serviceaccount/claims.go).
type claims struct {
	jwt.RegisteredClaims
	Kubernetes bound `json:"kubernetes.io"`
}

type bound struct {
	Namespace string `json:"namespace"`
	Account   ref    `json:"serviceaccount"`
	Pod       *ref   `json:"pod,omitempty"`
	Secret    *ref   `json:"secret,omitempty"`
	Node      *ref   `json:"node,omitempty"`
}

type ref struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid,omitempty"`
}

// sign returns the token for the claims.
func (i *Issuer) sign(c claims) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodES256, c).SignedString(i.key())
}

// Check returns the user of a token, and those of its audiences that are among the wanted ones. It
// returns an error if the token is not valid or has none of these audiences.
func (i *Issuer) Check(token string, wanted []string) (*authenticationv1.UserInfo, []string, error) {
	var c claims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodES256.Alg()}), jwt.WithIssuer(Name), jwt.WithExpirationRequired(), jwt.WithTimeFunc(time.Now))
	if _, err := parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return &i.key().PublicKey, nil }); err != nil {
		return nil, nil, errInvalid
	}
	var audiences []string
	for _, a := range c.Audience {
		for _, b := range wanted {
			if a == b {
				audiences = append(audiences, a)
			}
		}
	}
	if len(audiences) == 0 {
		return nil, nil, fmt.Errorf("[%w, token audiences %q is invalid for the target audiences %q]", errInvalid, []string(c.Audience), wanted)
	}
	if err := i.checkObjects(&c.Kubernetes); err != nil {
		return nil, nil, fmt.Errorf("[%w, %w]", errInvalid, err)
	}
	return userOf(&c), audiences, nil
}

// The errors of kube-apiserver, which lists the errors of all its authenticators. errInvalid is that of
// the first one, which reads a file of tokens.
var errInvalid = errors.New("invalid bearer token")

var errInvalidated = errors.New("service account token has been invalidated")

// checkObjects checks that everything that the token is bound to exists.
func (i *Issuer) checkObjects(b *bound) error {
	switch account := i.Object("serviceaccounts", b.Namespace, b.Account.Name); {
	case account == nil:
		return apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"}, b.Account.Name)
	case uidOf(account) != b.Account.UID:
		return fmt.Errorf("service account UID (%s) does not match claim (%s)", uidOf(account), b.Account.UID)
	case !i.exists("pods", b.Namespace, b.Pod), !i.exists("secrets", b.Namespace, b.Secret), b.Pod == nil && !i.exists("nodes", "", b.Node):
		return errInvalidated
	}
	return nil
}

// exists reports whether the object that r refers to exists; it is true if r is nil.
func (i *Issuer) exists(resource, namespace string, r *ref) bool {
	if r == nil {
		return true
	}
	obj := i.Object(resource, namespace, r.Name)
	return obj != nil && uidOf(obj) == r.UID
}

func uidOf(obj runtime.Object) types.UID {
	return obj.(interface{ GetUID() types.UID }).GetUID()
}

const extraPrefix = "authentication.kubernetes.io/"

// userOf returns the user that a token stands for.
func userOf(c *claims) *authenticationv1.UserInfo {
	user := UserOf(c.Kubernetes.Namespace, c.Kubernetes.Account.Name)
	user.UID = string(c.Kubernetes.Account.UID)
	user.Extra = map[string]authenticationv1.ExtraValue{extraPrefix + "credential-id": {"JTI=" + c.ID}}
	for kind, r := range map[string]*ref{"pod": c.Kubernetes.Pod, "node": c.Kubernetes.Node} {
		if r == nil {
			continue
		}
		user.Extra[extraPrefix+kind+"-name"] = authenticationv1.ExtraValue{r.Name}
		if r.UID != "" {
			user.Extra[extraPrefix+kind+"-uid"] = authenticationv1.ExtraValue{string(r.UID)}
		}
	}
	return &user
}

// UserOf returns the user of a service account with the groups that it always has.
func UserOf(namespace, name string) authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "system:serviceaccount:" + namespace + ":" + name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"}}
}

// newClaims returns the claims about an account.
func newClaims(account *corev1.ServiceAccount, spec *authenticationv1.TokenRequestSpec, now time.Time) claims {
	return claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: Name, Subject: UserOf(account.Namespace, account.Name).Username, Audience: spec.Audiences, ID: string(uuid.NewUUID()),
			IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(time.Duration(*spec.ExpirationSeconds) * time.Second)),
		},
		Kubernetes: bound{Namespace: account.Namespace, Account: ref{account.Name, account.UID}},
	}
}
