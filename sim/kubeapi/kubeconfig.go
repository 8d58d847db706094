package kubeapi

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// prepareKubeconfig makes the folder of the kubeconfig and writes the file. With KubeconfigLater it
// only removes the file of an earlier server.
func (s *Server) prepareKubeconfig() error {
	if s.opts.Dir == "" {
		return nil
	}
	if err := os.MkdirAll(s.opts.Dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of the kubeconfig: %w", err)
	}
	s.kubeconfig = filepath.Join(s.opts.Dir, "kubeconfig")
	if !s.opts.KubeconfigLater {
		return s.WriteKubeconfig()
	}
	if err := os.Remove(s.kubeconfig); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing an earlier kubeconfig: %w", err)
	}
	return nil
}

// WriteKubeconfig writes the kubeconfig, with the CA and the token inline. Over TLS it adds a second
// context that uses a client certificate instead. The file appears complete. Without Options.Dir it
// is an error.
func (s *Server) WriteKubeconfig() error {
	if s.kubeconfig == "" {
		return errors.New("kubeapi: a kubeconfig needs a folder; set Dir")
	}
	const name = "windtunnel"
	config := cmp.Or(s.TLSConfig(), s.Config())
	file := api.NewConfig()
	file.Clusters[name] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	addUser(file, name, name, config)
	file.CurrentContext = name
	if s.https != nil {
		if err := s.identity.KeepCA(filepath.Join(s.opts.Dir, caFile)); err != nil {
			return fmt.Errorf("writing the CA's certificate: %w", err)
		}
		byCert, err := s.CertificateConfig("admin", "system:masters")
		if err != nil {
			return err
		}
		const secure = name + "-certificate"
		file.Clusters[secure] = &api.Cluster{Server: byCert.Host, CertificateAuthorityData: byCert.CAData}
		addUser(file, secure, secure, byCert)
	}
	text, err := clientcmd.Write(*file)
	if err == nil {
		err = writePrivate(s.kubeconfig, text)
	}
	if err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return nil
}

// writePrivate replaces a file by one that only its owner can read, independent of the mode of the old
// file, and without following a symbolic link.
func writePrivate(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(content)
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
