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

// asksForSecret is the file of Lua code that asks whoever changes what nginx
// serves for a secret. That of others does not.
const asksForSecret = "util/secret.lua"

// makeSecret makes what we prove ourselves to Lua by, and puts it beside the
// code, for nginx's master alone. It is another one at each start, and no part
// of a plan: equal configurations have equal bytes. It is empty for Lua that
// does not ask.
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

// avoidDoors refuses connections to options.Ports.Doors; it is the Control of a
// net.Dialer that dials what an ingress or a certificate names. The address is
// the one that a name was resolved to.
func avoidDoors(ports options.Ports) func(network, address string, conn syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if ports.IsDoor(to.Addr(), int(to.Port())) {
			return fmt.Errorf("%s is a port of the controller's own", address)
		}
		return nil
	}
}
