package apply

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Layout says where nginx's files are: the paths of ingress-nginx's image
// below a root directory, "" being the image's own.
type Layout struct{ Root string }

// Conf is nginx.conf.
func (l Layout) Conf() string { return l.path("/etc/nginx/nginx.conf") }

// Lua is the directory of the code that nginx runs.
func (l Layout) Lua() string { return l.path("/etc/nginx/lua") }

// LuaConfig is what that code reads at start.
func (l Layout) LuaConfig() string { return filepath.Join(l.Lua(), "cfg.json") }

// LuaSecret is what that code takes changes by; see Options.Secret.
func (l Layout) LuaSecret() string { return filepath.Join(l.Lua(), "secret") }

// PID is the file that holds the master's process ID.
func (l Layout) PID() string { return l.path("/tmp/nginx/nginx.pid") }

// Passwords is the folder of the files that nginx's workers check names and
// passwords by.
func (l Layout) Passwords() string { return l.path("/etc/ingress-controller/auth") }

// GeoIP is the folder of the databases by which nginx looks up addresses.
func (l Layout) GeoIP() string { return l.path("/etc/ingress-controller/geoip") }

func (l Layout) path(name string) string { return filepath.Join(l.Root, name) }

// Make creates the directories, which nginx's workers, of another user than
// root, must be able to enter.
func (l Layout) Make() error {
	for _, dir := range []string{"/etc/nginx", "/etc/nginx/lua", "/etc/ingress-controller/ssl", "/etc/ingress-controller/auth", "/etc/ingress-controller/geoip", "/tmp/nginx", "/var/log/nginx"} {
		if err := os.MkdirAll(l.path(dir), 0o755); err != nil {
			return fmt.Errorf("creating a directory for nginx: %w", err)
		}
	}
	return nil
}

// Copy writes all files of a tree below dir, readable by nginx's workers.
func Copy(dir string, tree fs.FS) error {
	return fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, name)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return Write(target, content)
	})
}

// Write replaces a file as a whole: a reader sees the old content or the new,
// never a part, even when the machine stops in between.
func Write(path string, content []byte) error { return write(path, content, 0o644, ourselves) }

// WriteSecret is Write for what only our own user, nginx's master included, may
// read.
func WriteSecret(path string, content []byte) error { return write(path, content, 0o600, ourselves) }

// ourselves is the owner who needs no saying.
const ourselves = -1

func write(path string, content []byte, mode fs.FileMode, owner int) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			os.Remove(file.Name())
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil && owner != ourselves {
		err = file.Chown(owner, -1)
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
