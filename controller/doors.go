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

// asksForSecret is a file of our Lua code, which requires a secret for changes of the
// configuration. The Lua code of others does not have it.
const asksForSecret = "util/secret.lua"

// makeSecret makes the secret that authenticates us to Lua, and writes it beside the
// Lua code, readable only for nginx's master. Each start makes a new one. It is not
// part of a plan, because equal configurations must have equal bytes. It is empty for
// Lua code that requires no secret.
func makeSecret(code fs.FS, files apply.Layout) (string, error) {
	if code == nil {
		code = os.DirFS(files.Lua())
	}
	switch _, err := fs.Stat(code, asksForSecret); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("looking at the Lua code for nginx: %w", err)
	}
	secret := rand.Text()
	return secret, apply.WriteSecret(files.LuaSecret(), []byte(secret+"\n"))
}

// avoidDoors refuses connections to options.Ports.Doors. It is the Control function of
// a net.Dialer that dials addresses from an ingress or a certificate; names are
// already resolved.
func avoidDoors(ports options.Ports) func(network, address string, conn syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if ports.IsDoor(to.Addr(), int(to.Port())) {
			return fmt.Errorf("%s is one of the controller's own ports", address)
		}
		return nil
	}
}
