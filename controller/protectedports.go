package controller

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"syscall"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/options"
)

// secretModule is a file that only our Lua code has. Our Lua code accepts changes of the
// configuration only with a secret.
const secretModule = "util/secret.lua"

// makeSecret creates the secret that authenticates us to Lua, and writes it beside the Lua code,
// readable only by nginx's master. Each start creates a new one. The secret is not part of a plan,
// because equal configurations must have equal bytes. It is empty for Lua code that requires none.
func makeSecret(code fs.FS, files apply.Layout) (string, error) {
	if code == nil {
		code = os.DirFS(files.Lua())
	}
	switch _, err := fs.Stat(code, secretModule); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the Lua code for nginx: %w", err)
	}
	secret := rand.Text()
	return secret, apply.WriteSecret(files.LuaSecret(), []byte(secret+"\n"))
}

// avoidProtectedPorts returns a Control function for a net.Dialer that refuses connections to
// protected ports. It is for dialers whose addresses come from an ingress or a certificate, and
// runs after names are resolved.
func avoidProtectedPorts(ports options.Ports) func(network, address string, conn syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if ports.IsProtected(to.Addr(), int(to.Port())) {
			return fmt.Errorf("%s is one of the controller's own ports", address)
		}
		return nil
	}
}
