package kubeapi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/kubeapi/fault"
)

// The files of a service account, and the CA among them, are all that a client needs over HTTPS: the
// server's certificate is that of its address, and the token is the account's.
func TestFilesOfAServiceAccount(t *testing.T) {
	s := startWith(t, Options{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0"})
	folder := filepath.Join(t.TempDir(), "account")
	if err := s.WriteAccount(folder, "default", "web"); err == nil || !strings.Contains(err.Error(), "no service account default/web") {
		t.Errorf("without the account: %v", err)
	}
	_, err := client(t, s.Config()).CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
	check(t, err)
	check(t, s.WriteAccount(folder, "default", "web"))
	modes := map[string]string{".": "drwx------", "token": "-rw-------", "ca.crt": "-rw-r--r--", "namespace": "-rw-------"}
	for name, want := range modes {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().String() != want {
			t.Errorf("%s: %v, %v, want the mode %s", name, info, err, want)
		}
	}
	if namespace, err := os.ReadFile(filepath.Join(folder, "namespace")); err != nil || string(namespace) != "default" {
		t.Errorf("the namespace is %q, %v", namespace, err)
	}
	inCluster := func() *rest.Config { // as rest.InClusterConfig makes it
		token, err := os.ReadFile(filepath.Join(folder, "token"))
		check(t, err)
		return &rest.Config{Host: s.TLSURL(), TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(folder, "ca.crt")}, BearerToken: string(token)}
	}
	user, err := whoami(t, client(t, inCluster()))
	check(t, err)
	if user.Username != "system:serviceaccount:default:web" || fmt.Sprint(user.Groups) != "[system:serviceaccounts system:serviceaccounts:default system:authenticated]" {
		t.Errorf("the token is that of %+v", user)
	}
	wrong := inCluster()
	wrong.BearerToken += "x"
	if _, err := whoami(t, client(t, wrong)); !errors.IsUnauthorized(err) {
		t.Errorf("a wrong token: %v", err)
	}

	_, err = s.Inject(fault.CertificateRotation(true), fault.Scope{})
	check(t, err)
	if _, err := whoami(t, client(t, inCluster())); err != nil {
		t.Errorf("after the CA has changed: %v", err)
	}
	check(t, s.WriteAccount(folder, "default", "web")) // it replaces the files
}

func TestFilesOfAServiceAccountNeedHTTPS(t *testing.T) {
	s := startWith(t, Options{HTTP: "127.0.0.1:0"})
	if err := s.WriteAccount(t.TempDir(), "default", "default"); err == nil || !strings.Contains(err.Error(), "set HTTPS") {
		t.Errorf("error %v", err)
	}
}

// The certificate is valid for the address that the server listens on, and not only for 127.0.0.1.
func TestCertificateNamesTheAddress(t *testing.T) {
	s := startWith(t, Options{HTTPS: "127.0.0.2:0"})
	if user, err := whoami(t, client(t, s.TLSConfig())); err != nil || !strings.HasPrefix(s.TLSURL(), "https://127.0.0.2:") {
		t.Errorf("%s: %+v, %v", s.TLSURL(), user, err)
	}
}
