package forktest

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Tag is the name of the fork's image.
const Tag = "windtunnel.test/fork:v1"

// File writes an image of a fork, and returns the path. The image starts its controller through an init
// process if the machine has one to copy.
func File(t testing.TB) string {
	t.Helper()
	root := Root(t)
	AddSystem(t, root)
	return Save(t, Tag, Image(t, root, runtime.GOARCH, func(c *v1.Config) {
		c.Entrypoint, c.User, c.WorkingDir, c.Env = []string{Controller}, "www-data", "/etc/nginx", []string{"PATH=/usr/bin:/bin"}
		if _, err := os.Stat("/usr/bin/tini"); err == nil {
			c.Entrypoint = []string{"tini", "--", Controller}
		}
	}))
}

// Save writes an image to a file, as docker save does, and returns the path.
func Save(t testing.TB, tag string, image v1.Image) string {
	t.Helper()
	named, err := name.NewTag(tag)
	check(t, err)
	path := filepath.Join(t.TempDir(), "image.tar")
	check(t, tarball.WriteToFile(path, named, image))
	return path
}

// Image returns an image with the files below a root. set changes its
// configuration, which has neither a user nor a command.
func Image(t testing.TB, root string, architecture string, set func(*v1.Config)) v1.Image {
	t.Helper()
	packed := filepath.Join(t.TempDir(), "layer.tar")
	pack(t, root, packed)
	layer, err := tarball.LayerFromFile(packed, tarball.WithCompressionLevel(gzip.NoCompression)) // the race detector makes compression slow
	check(t, err)
	image, err := mutate.AppendLayers(empty.Image, layer)
	check(t, err)
	file, err := image.ConfigFile()
	check(t, err)
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", architecture
	set(&file.Config)
	image, err = mutate.ConfigFile(image, file)
	check(t, err)
	return image
}

// pack writes the files below a root to an archive, with their owners.
func pack(t testing.TB, root, path string) {
	t.Helper()
	file, err := os.Create(path)
	check(t, err)
	defer file.Close()
	out := tar.NewWriter(file)
	check(t, filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || path == root {
			return err
		}
		link := ""
		if info.Mode()&os.ModeSymlink != 0 {
			if link, err = os.Readlink(path); err != nil {
				return err
			}
		}
		header, err := tar.FileInfoHeader(info, link)
		if err != nil {
			return err
		}
		if header.Name, err = filepath.Rel(root, path); err != nil {
			return err
		}
		if err := out.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
			return err
		}
		content, err := os.Open(path)
		if err != nil {
			return err
		}
		defer content.Close()
		_, err = io.Copy(out, content)
		return err
	}))
	check(t, out.Close())
}
