package simulated

import (
	"net/netip"
	"path"
	"path/filepath"
	"strings"

	"windtunnel.dev/sim/adapter"
)

// The files of a service account, as in a container.
const (
	tokenFile = "token"
	caFile    = "ca.crt"
)

// AccountFolder returns the folder with the files of the controller's service account, if it has one.
// Only the user of this process may read it.
func (i *Instance) AccountFolder() string { return filepath.Join(i.Root, "kubeapi", "serviceaccount") }

// writeAccount writes the files of the service account, which exists. They are the same after a restart
// of the controller, and when the API server does not answer.
func (i *Instance) writeAccount() error {
	if !i.setup.HasAccount {
		return nil
	}
	return i.api.WriteAccount(i.AccountFolder(), i.setup.Namespace, i.setup.ServiceAccount)
}

// apiServer returns the data of the API server for adapters, with paths of this machine.
func (i *Instance) apiServer() adapter.APIServer {
	address := netip.MustParseAddrPort(strings.TrimPrefix(i.api.TLSURL(), "https://"))
	return adapter.APIServer{
		Host: address.Addr().String(), Port: int(address.Port()),
		CA: filepath.Join(i.AccountFolder(), caFile), Token: filepath.Join(i.AccountFolder(), tokenFile),
	}
}

// inImage returns the same with the paths that the files have in containers.
func inImage(at adapter.APIServer) adapter.APIServer {
	at.CA, at.Token = path.Join(adapter.AccountFolder, caFile), path.Join(adapter.AccountFolder, tokenFile)
	return at
}
