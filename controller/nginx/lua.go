package nginx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/tempdir"
)

// invalidLua is the exit code of nginx if a file does not compile.
const invalidLua = 3

// compileLua is a configuration that makes nginx compile files, print their errors, and exit.
const compileLua = `%serror_log stderr;
pid %q;
daemon off;
events {}
http {
access_log off;
client_body_temp_path %[3]q;
proxy_temp_path %[3]q;
init_by_lua_block {
local code = 0
for _, name in ipairs({ %[4]s }) do
  local file = assert(io.open(%[5]q .. "/" .. name))
  local _, err = loadstring(file:read("*a"), "@" .. name)
  file:close()
  if err then
    code = %[6]d
    io.stdout:write(err, "\n")
  end
end
os.exit(code)
}
}
`

// CompileLua compiles files of a folder with nginx's own Lua, which nginx -t does not do. The error
// gives the name, line and reason for each invalid file.
func (n *Nginx) CompileLua(folder string, names []string) error {
	modules, err := n.Load("http_lua")
	if err != nil {
		return err
	}
	dir, err := tempdir.Make("nginx-lua")
	if err != nil {
		return err
	}
	defer dir.Remove()
	var load, list strings.Builder
	for _, module := range modules {
		fmt.Fprintf(&load, "load_module %q;\n", module)
	}
	for _, name := range names {
		fmt.Fprintf(&list, "%q, ", name)
	}
	text := fmt.Sprintf(compileLua, load.String(), filepath.Join(dir.Path, "pid"), filepath.Join(dir.Path, "temp"), list.String(), folder, invalidLua)
	conf := filepath.Join(dir.Path, "nginx.conf")
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	out, err := command.New(ctx, n.Binary, "-c", conf).Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == invalidLua:
		return errors.New(strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", "; "))
	case exit != nil:
		return fmt.Errorf("compiling the Lua code with %s: %w: %s", n.Binary, err, complaint(string(exit.Stderr)))
	}
	return fmt.Errorf("compiling the Lua code with %s: %w", n.Binary, err)
}
