package main

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/kubeapi"
)

// checkAccount checks the value of --service-account.
func checkAccount(account string) error {
	namespace, name, _ := strings.Cut(account, "/")
	if account != "" && (namespace == "" || name == "" || strings.Contains(name, "/")) {
		return fmt.Errorf("--service-account %s: write NAMESPACE/NAME, such as default/web", account)
	}
	return nil
}

// accountFolder is the folder with the files of the service account.
func (a *apiserver) accountFolder() string { return filepath.Join(a.server.Dir, "serviceaccount") }

// writeAccount writes the files of the service account, which it creates if it does not exist.
func (a *apiserver) writeAccount(server *kubeapi.Server) error {
	if a.account == "" {
		return nil
	}
	namespace, name, _ := strings.Cut(a.account, "/")
	_, err := server.Writer().Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	if err == nil || apierrors.IsAlreadyExists(err) {
		err = server.WriteAccount(a.accountFolder(), namespace, name)
	}
	if err != nil {
		return fmt.Errorf("--service-account %s: %w", a.account, err)
	}
	return nil
}

// printAccount prints the environment and the folder that programs with in-cluster configuration need.
func (a *apiserver) printAccount(out io.Writer, server *kubeapi.Server) {
	if a.account == "" {
		return
	}
	host, port, _ := net.SplitHostPort(strings.TrimPrefix(server.TLSURL(), "https://"))
	fmt.Fprintf(out, "export KUBERNETES_SERVICE_HOST=%s KUBERNETES_SERVICE_PORT=%s\n", host, port)
	fmt.Fprintf(out, "# programs look for the files in %s at %s\n", a.accountFolder(), adapter.AccountFolder)
}
