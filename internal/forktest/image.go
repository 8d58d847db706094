package forktest

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Image returns an image with the files below a root, for this machine's architecture. set changes its
// configuration, which has neither a user nor a command.
func Image(t testing.TB, root string, architecture string, set func(*v1.Config)) v1.Image {
	t.Helper()
	packed := filepath.Join(t.TempDir(), "layer.tar")
	pack(t, root, packed)
	layer, err := tarball.LayerFromFile(packed, tarball.WithCompressionLevel(gzip.NoCompression)) // which takes the race detector ten times as long
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
