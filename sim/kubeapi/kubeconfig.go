package kubeapi

import (
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes dir/kubeconfig, with the CA inline, and dir/ca.crt for
// clients that want a file. It returns the path of the former.
func writeKubeconfig(dir string, config *rest.Config) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the folder of the kubeconfig: %w", err)
	}
	if config.CAData != nil {
		if err := os.WriteFile(filepath.Join(dir, "ca.crt"), config.CAData, 0o644); err != nil {
			return "", fmt.Errorf("writing the CA's certificate: %w", err)
		}
	}
	const name = "windtunnel"
	file := api.NewConfig()
	file.Clusters[name] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	// Nobody checks the token, but without any kubectl over TLS would ask its user for a name.
	file.AuthInfos[name] = &api.AuthInfo{Token: name}
	file.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	file.CurrentContext = name
	path := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return "", fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return path, nil
}
