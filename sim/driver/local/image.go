package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/internal/rootfs"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/subject"
)

// isRoot reports whether this process is root's; tests replace it.
var isRoot = func() bool { return os.Geteuid() == 0 }

// unsupportedImage returns why a subject's image cannot run as processes of this machine.
func unsupportedImage(s subject.Subject) string {
	if !isRoot() {
		return "its controller is an image, whose files belong to several users: run windtunnel as root, or use --driver container"
	}
	if err := allowsIsolation(); err != nil {
		return fmt.Sprintf("its controller is an image, which needs a file system of its own, but %v: use --driver container", err)
	}
	return driver.UnsupportedImage(s)
}

// prepareImage starts the simulated cluster of a subject, and unpacks its image into the subject's folder.
func (d Driver) prepareImage(ctx context.Context, a *adapter.Adapter, s subject.Subject, in driver.Options) (driver.Instance, error) {
	cluster, err := simulated.Prepare(s, in, d.PortBase)
	if err != nil {
		return nil, err
	}
	r := &runtime{cluster: cluster, root: filepath.Join(cluster.Root, "rootfs")}
	if err := r.unpack(ctx, a, s); err != nil {
		return nil, errors.Join(fmt.Errorf("subject %s: %w", s.Name, err), cluster.Discard(context.WithoutCancel(ctx)))
	}
	return cluster.WithRuntime(ctx, r.setup, r)
}

// unpack unpacks a subject's image into the root of the runtime, with the kubeconfig, and expands the
// adapter.
func (r *runtime) unpack(ctx context.Context, a *adapter.Adapter, s subject.Subject) (err error) {
	if err = os.Mkdir(r.root, 0o755); err != nil {
		return err
	}
	if file := s.ImageFile(); file != "" {
		r.image, err = rootfs.Unpack(file, r.root)
	} else {
		r.image, err = rootfs.UnpackNamed(ctx, s.Image(), r.root)
	}
	if err != nil {
		return err
	}
	if r.setup, err = r.cluster.ExpandForImage(a, r.image.Labels); err != nil {
		return err
	}
	r.setup.Processes.PIDFile = "" // the master is found by its command line
	content, err := os.ReadFile(r.cluster.Kubeconfig())
	if err != nil {
		return err
	}
	return r.write(adapter.File{Path: simulated.ImageKubeconfig, Content: new(string(content)), Mode: 0o444})
}

// write writes a file of the adapter into the image: texts and copies of files, as for containers. The
// folders of an image exist already.
func (r *runtime) write(file adapter.File) error {
	text := ""
	switch {
	case file.Content != nil:
		text = *file.Content
	case file.From != "":
		var err error
		text, err = simulated.Copied(file)
		if errors.Is(err, fs.ErrNotExist) && file.Optional {
			return nil
		}
		if err != nil {
			return err
		}
	default:
		return nil
	}
	root, err := os.OpenRoot(r.root) // it refuses links that lead out of the image
	if err != nil {
		return err
	}
	defer root.Close()
	name := strings.TrimPrefix(filepath.Clean(file.Path), "/")
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	mode := fs.FileMode(cmp.Or(file.Mode, 0o644))
	if err := root.WriteFile(name, []byte(text), mode); err != nil {
		return err
	}
	return root.Chmod(name, mode) // whatever the umask
}

// imageView returns the view of a controller that runs from an image.
func (r *runtime) imageView() *isolated.View {
	who := &isolated.User{UID: uint32(r.image.User.Uid), GID: uint32(r.image.User.Gid)}
	for _, group := range r.image.User.Sgids {
		who.Groups = append(who.Groups, uint32(group))
	}
	view := &isolated.View{Root: r.root, Processes: true, User: who}
	if r.setup.HasAccount {
		view.Folders = map[string]string{adapter.AccountFolder: r.cluster.AccountFolder()}
	}
	return view
}

// giveAccount lets the user of an image read the files of the controller's service account.
func (r *runtime) giveAccount() error {
	if !r.setup.HasAccount {
		return nil
	}
	return filepath.WalkDir(r.cluster.AccountFolder(), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(r.image.User.Uid), int(r.image.User.Gid))
	})
}

// readFromImage reads a file of an image's root. A log file that is a link to the controller's output is
// not there.
func (r *runtime) readFromImage(name string) ([]byte, error) {
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	return root.ReadFile(name)
}
