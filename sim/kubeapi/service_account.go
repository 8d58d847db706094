package kubeapi

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The files of a service account, as kube-apiserver's ServiceAccount admission mounts them.
const (
	tokenFile     = "token"
	caFile        = "ca.crt"
	namespaceFile = "namespace"
)

// accountSeconds is the lifetime of the token of WriteAccount: kube-apiserver extends those of pods to a
// year by default (--service-account-extend-token-expiration).
const accountSeconds = 365 * 24 * 60 * 60

// WriteAccount writes the files that a container finds in /var/run/secrets/kubernetes.io/serviceaccount:
// a new token of the service account, the server's CA, and the namespace. If the folder is missing, it
// creates one that only its owner may read. In-cluster configuration consists of these files and the
// server's address (k8s.io/client-go/rest, InClusterConfig). The account must exist, and HTTPS must be
// on. When the CA changes, the server writes its file again.
func (s *Server) WriteAccount(folder, namespace, name string) error {
	if s.https == nil {
		return errors.New("kubeapi: the files of a service account are for HTTPS, which is off; set HTTPS or Dir")
	}
	account, found := s.state.Object("", "serviceaccounts", namespace, name).(*corev1.ServiceAccount)
	if !found {
		return fmt.Errorf("kubeapi: there is no service account %s/%s", namespace, name)
	}
	request := &authenticationv1.TokenRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(accountSeconds))},
	}
	if err := s.tokens.Issue(account, request); err != nil {
		return err
	}
	err := os.MkdirAll(folder, 0o700)
	if err == nil {
		err = writePrivate(filepath.Join(folder, tokenFile), []byte(request.Status.Token))
	}
	if err == nil {
		err = writePrivate(filepath.Join(folder, namespaceFile), []byte(namespace))
	}
	if err == nil {
		err = s.identity.KeepCA(filepath.Join(folder, caFile))
	}
	if err != nil {
		return fmt.Errorf("writing the files of a service account: %w", err)
	}
	return nil
}
