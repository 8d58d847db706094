package adapter

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// AccountFolder is the folder in which a controller with in-cluster configuration finds the files of its
// service account: token, ca.crt and namespace (k8s.io/client-go/rest, InClusterConfig).
const AccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// defaultAccount is the service account of pods that name none.
const defaultAccount = "default"

// environment returns the variables that a kubelet sets in containers for the API server, and others, which
// take precedence.
func (a APIServer) environment(others map[string]string) map[string]string {
	port := strconv.Itoa(a.Port)
	env := map[string]string{"KUBERNETES_SERVICE_HOST": a.Host, "KUBERNETES_SERVICE_PORT": port, "KUBERNETES_SERVICE_PORT_HTTPS": port}
	maps.Copy(env, others)
	return env
}

// hasAccount reports whether the controller needs the files of its service account.
func (a *Adapter) hasAccount() bool { return a.InCluster || a.Uses("APIServer") }

func (c *checker) account() {
	if c.ServiceAccount == defaultAccount {
		return
	}
	at := []any{"spec", "serviceAccount"}
	if len(validation.IsDNS1123Subdomain(c.ServiceAccount)) > 0 {
		c.Problem("\""+c.ServiceAccount+"\" cannot be the name of a service account", "use lower-case letters, digits, dashes and dots", at...)
	}
	if !c.hasAccount() {
		c.Problem("a serviceAccount that is not used", "add inCluster: true, or pass {{.APIServer.Token}} to the controller", at...)
	}
}

// isAccountFolder reports whether a folder is the one that a controller gets with its service account, by
// either of its paths.
func isAccountFolder(folder string) bool {
	return slices.Contains([]string{AccountFolder, strings.TrimPrefix(AccountFolder, "/var")}, path.Clean(folder))
}
