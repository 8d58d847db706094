// Package rootfs unpacks container images into folders: from files, or from this machine's container
// engine. Its one rule: nothing outside the folder is written, whatever an image contains.
package rootfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/moby/go-archive"
	"github.com/moby/sys/user"

	"windtunnel.dev/internal/engine"
)

// Image holds the settings of an unpacked image for its command.
type Image struct {
	Command []string // its entry point and the arguments after it; the program is an absolute path
	Env     []string // KEY=VALUE
	Dir     string   // the working directory
	User    user.ExecUser
	Labels  map[string]string
}

// Unpack unpacks the file system of the image in a file into an empty folder, and makes the machine's
// /etc/resolv.conf and /etc/hosts part of it, as container engines do. The file comes from
// docker save, podman save or skopeo. Only root can set the owners of files.
func Unpack(path, folder string) (*Image, error) {
	scratch, err := os.MkdirTemp(filepath.Dir(folder), "image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	image, err := unpackFile(path, scratch, folder)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", path, err)
	}
	return image, nil
}

// UnpackNamed is Unpack for an image that the machine's container engine has.
func UnpackNamed(ctx context.Context, name, folder string) (*Image, error) {
	scratch, err := os.MkdirTemp(filepath.Dir(folder), "image-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	saved := filepath.Join(scratch, "saved.tar")
	if err := save(ctx, name, saved); err != nil {
		return nil, err
	}
	image, err := unpackFile(saved, scratch, folder)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", name, err)
	}
	return image, nil
}

// unpackFile unpacks the image in a file. It may use scratch for temporary files.
func unpackFile(path, scratch, folder string) (*Image, error) {
	opened, err := open(path, filepath.Join(scratch, "layout"))
	if err != nil {
		return nil, err
	}
	file, err := opened.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("its configuration: %w", err)
	}
	if err := fits(file); err != nil {
		return nil, err
	}
	content := mutate.Extract(opened)
	defer content.Close()
	if err := archive.Untar(content, folder, &archive.TarOptions{NoLchown: os.Geteuid() != 0, BestEffortXattrs: true}); err != nil {
		return nil, fmt.Errorf("unpack it: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := adopt(root, "etc/resolv.conf", "etc/hosts"); err != nil {
		return nil, err
	}
	return describe(root, file.Config)
}

// fits returns nil if this machine can run the programs of an image.
func fits(file *v1.ConfigFile) error {
	want := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	if file.OS != want.OS || file.Architecture != want.Architecture {
		return fmt.Errorf("it is for %s/%s, but this machine is %s: get the image with --platform %[3]s", file.OS, file.Architecture, want)
	}
	if len(file.Config.Entrypoint)+len(file.Config.Cmd) == 0 {
		return engine.ErrNoCommand
	}
	return nil
}

// adopt copies the named files, if they exist on this machine, to the same paths below a root.
func adopt(root *os.Root, names ...string) error {
	for _, name := range names {
		content, err := os.ReadFile("/" + name)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("/%s: %w", filepath.Dir(name), err)
		}
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		if err := root.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// describe returns the settings of an image for its command.
func describe(root *os.Root, config v1.Config) (*Image, error) {
	i := &Image{Command: slices.Concat(config.Entrypoint, config.Cmd), Env: config.Env, Dir: config.WorkingDir, Labels: config.Labels}
	if i.Dir == "" {
		i.Dir = "/"
	}
	program, err := find(root, i.Command[0], config.Env, i.Dir)
	if err != nil {
		return nil, err
	}
	i.Command[0] = program
	passwd, _ := root.Open("etc/passwd") // without the files, users have numbers only
	group, _ := root.Open("etc/group")
	defer passwd.Close()
	defer group.Close()
	who, err := user.GetExecUser(config.User, nil, reader(passwd), reader(group))
	if err != nil {
		return nil, fmt.Errorf("its USER %s: %w", config.User, err)
	}
	i.User = *who
	return i, nil
}

// defaultPath is the PATH of images without one, as with container engines.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// find returns the path of a program of an image.
func find(root *os.Root, program string, env []string, dir string) (string, error) {
	places := []string{filepath.Join(dir, program)}
	switch {
	case filepath.IsAbs(program):
		places = []string{program}
	case !strings.Contains(program, "/"):
		path := defaultPath
		for _, variable := range env {
			if value, ok := strings.CutPrefix(variable, "PATH="); ok {
				path = value
			}
		}
		places = nil
		for _, folder := range filepath.SplitList(path) {
			places = append(places, filepath.Join("/", folder, program))
		}
	}
	for _, place := range places {
		// A link may have an absolute target, which is a path in the image, not on this machine.
		if info, err := root.Lstat(strings.TrimPrefix(place, "/")); err == nil && !info.IsDir() {
			return place, nil
		}
	}
	return "", fmt.Errorf("its entry point %s is not in it", program)
}
