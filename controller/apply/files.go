package apply

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"windtunnel.dev/controller/conf"
)

// Layout returns the paths of nginx's files: those of ingress-nginx's image, below a root
// directory. An empty root means the paths of the image themselves.
type Layout struct{ Root string }

// Conf returns the path of nginx.conf.
func (l Layout) Conf() string { return l.path("/etc/nginx/nginx.conf") }

// Lua returns the directory of the Lua code that nginx runs.
func (l Layout) Lua() string { return l.path("/etc/nginx/lua") }

// LuaConfig returns the file that the Lua code reads at start.
func (l Layout) LuaConfig() string { return filepath.Join(l.Lua(), "cfg.json") }

// LuaSecret returns the file of the secret that authenticates changes; see Options.Secret.
func (l Layout) LuaSecret() string { return filepath.Join(l.Lua(), "secret") }

// PID returns the file that contains the master's process ID.
func (l Layout) PID() string { return l.path("/tmp/nginx/nginx.pid") }

// Passwords returns the folder of the password files, which nginx's workers read.
func (l Layout) Passwords() string { return l.path("/etc/ingress-controller/auth") }

// GeoIP returns the folder of the GeoIP databases.
func (l Layout) GeoIP() string { return l.path("/etc/ingress-controller/geoip") }

func (l Layout) path(name string) string { return filepath.Join(l.Root, name) }

// Make creates the directories. nginx's workers, which do not run as root, must be able to enter
// them.
func (l Layout) Make() error {
	for _, dir := range []string{"/etc/nginx", "/etc/nginx/lua", "/etc/ingress-controller/ssl", "/etc/ingress-controller/auth", "/etc/ingress-controller/geoip", "/tmp/nginx", "/var/log/nginx"} {
		if err := os.MkdirAll(l.path(dir), 0o755); err != nil {
			return fmt.Errorf("creating a directory for nginx: %w", err)
		}
	}
	return nil
}

// Copy writes all files of a tree below dir, readable for nginx's workers.
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

// Write replaces a file atomically: a reader sees either the old or the new content in full. It
// does not wait for the disk, so a crash of the machine may lose the content. That is safe, because
// the controller writes all of its files again when it starts.
func Write(path string, content []byte) error {
	return WriteText(path, conf.Whole(content))
}

// WriteText is like Write.
func WriteText(path string, text conf.Text) error { return write(path, text, 0o644, ourselves) }

// WriteSecret is like Write, but only our own user may read the file. nginx's master runs as this
// user, too.
func WriteSecret(path string, content []byte) error {
	return write(path, conf.Whole(content), 0o600, ourselves)
}

// ourselves is the owner of files that we create: they need no chown.
const ourselves = -1

func write(path string, text conf.Text, mode fs.FileMode, owner int) (err error) {
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
	buffered := bufio.NewWriterSize(file, min(text.Len(), 1<<20))
	_, err = text.WriteTo(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = file.Chmod(mode)
	}
	if err == nil && owner != ourselves {
		err = file.Chown(owner, -1)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
