package kubeapi

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes dir/kubeconfig, with the CA and the token inline. Over TLS it adds a
// second context that uses a client certificate instead. It returns the path of the file.
func (s *Server) writeKubeconfig(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making the folder of the kubeconfig: %w", err)
	}
	const name = "windtunnel"
	config := cmp.Or(s.TLSConfig(), s.Config())
	file := api.NewConfig()
	file.Clusters[name] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	addUser(file, name, name, config)
	file.CurrentContext = name
	if s.https != nil {
		s.identity.Dir = dir
		if err := s.identity.WriteCA(); err != nil {
			return "", fmt.Errorf("writing the CA's certificate: %w", err)
		}
		byCert, err := s.CertificateConfig("admin", "system:masters")
		if err != nil {
			return "", err
		}
		const secure = name + "-certificate"
		file.Clusters[secure] = &api.Cluster{Server: byCert.Host, CertificateAuthorityData: byCert.CAData}
		addUser(file, secure, secure, byCert)
	}
	path := filepath.Join(dir, "kubeconfig")
	if err := writePrivate(path, *file); err != nil {
		return "", fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return path, nil
}

// writePrivate replaces a kubeconfig by one that only its owner can read, independent of the mode
// of the old file, and without following a symbolic link.
func writePrivate(path string, config api.Config) error {
	text, err := clientcmd.Write(config)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".kubeconfig-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

func addUser(file *api.Config, name, cluster string, config *rest.Config) {
	file.AuthInfos[name] = &api.AuthInfo{
		Token:                 config.BearerToken,
		ClientCertificateData: config.CertData,
		ClientKeyData:         config.KeyData,
	}
	file.Contexts[name] = &api.Context{Cluster: cluster, AuthInfo: name, Namespace: "default"}
}
